// LineEditor: GNU Readline driven by a poll loop, with output above the line being typed.
#pragma once

#include "term/edit_layout.h"

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zksh {

/// Owns the screen rows from the prompt down. Output is collected until flush(), so that the
/// terminal shows each step at once. Painting starts at the cursor, in column 0. On a dumb terminal
/// the line is one row that scrolls sideways, drawn only with CR and blanks.
class Painter {
 public:
  /// `wait` blocks until the terminal accepts output; false: drop what is pending. `bare`: the
  /// terminal alone wraps the prompt, which is sent whole, with nothing before it.
  Painter(int fd, bool dumb, bool bare, std::function<bool(int fd)> wait = {})
      : fd_(fd), dumb_(dumb), bare_(bare), wait_(std::move(wait)) {}

  /// Sets the screen's size. Assumes that the terminal has rewrapped what is painted, as most do.
  void resize(ScreenSize screen);
  const ScreenSize& screen() const { return screen_; }

  /// Moves the cursor to column 0 of a new row, unless it is there already; a reversed % marks
  /// output that did not end with a newline.
  void find_fresh_row();
  /// The same if the cursor is in column 0, or behind keys that the terminal has echoed.
  void begin_row();
  void paint(const EditedLine& line);
  /// Leaves the screen as it is, since its contents are no longer known, and paints below.
  void start_anew();
  /// Has the next paint() draw everything again.
  void forget();
  /// Erases what is painted; the cursor returns to where it began.
  void erase();
  /// Leaves what is painted, with the cursor in column 0 of the row below.
  void leave();
  /// Clears the screen, and forgets what was painted.
  void clear_screen();

  /// Sends bytes to the terminal unchanged.
  void send(std::string_view bytes) { pending_ += bytes; }
  /// Writes all pending output; blocks while the terminal is stopped. Ignores errors: a terminal
  /// that is gone is noticed on its input.
  void flush();

 private:
  void paint_rows(const Layout& layout);
  void paint_row(int row, const Row& before, const Row& wanted);
  void paint_single_row(const EditedLine& line);
  void open_row(const Layout& layout, int row);
  void put_cells(const Row& row, std::size_t first_cell);
  void put_style(const std::string& style);
  void move_to(int row, int column);

  int fd_;
  bool dumb_;
  bool bare_;
  std::function<bool(int fd)> wait_;
  ScreenSize screen_;
  std::string pending_;
  std::vector<Row> painted_;  ///< rows below these are free
  int row_ = 0;               ///< where the cursor is
  int column_ = 0;            ///< screen_.columns: after the last column
  std::string style_;
  std::string single_row_;  ///< on a dumb terminal: what is painted, if the cursor is at its end
  int single_row_columns_ = 0;
};

/// Reads no more than requested, so that keys typed ahead stay in the terminal for the next
/// program.
class KeyInput {
 public:
  explicit KeyInput(int fd) : fd_(fd) {}

  /// Limits the bytes taken until the next call, so that a flood of input cannot block the poll
  /// loop.
  void set_budget(std::size_t bytes) { budget_ = bytes; }
  /// Whether a byte can be taken now or within the time.
  bool ready(std::chrono::microseconds wait = {});
  /// The next byte; -1 if none arrives within two seconds. Readline calls this within a character
  /// or key, whose bytes arrive together.
  int next();
  /// Whether the terminal is gone.
  bool ended() const { return ended_; }

  /// Puts a byte before the next ones.
  void put_back(char byte) { ahead_.push_front(byte); }
  bool has_ahead() const { return !ahead_.empty(); }
  void drop_ahead() { ahead_.clear(); }

  /// Moves the received part of a bracketed paste to `paste`; true if it is complete.
  bool take_paste(std::string& paste);

 private:
  bool poll_terminal(std::chrono::microseconds wait);
  std::size_t read_bytes(char* bytes, std::size_t most);

  int fd_;
  std::deque<char> ahead_;
  std::size_t known_ = 0;  ///< bytes that can be read without blocking
  std::size_t budget_ = 0;
  bool ended_ = false;
};

/// The input of a Completer.
struct CompletionRequest {
  std::string_view line;
  std::size_t cursor = 0;  ///< a byte offset
  std::size_t room = 0;    ///< about how many candidates can be listed
  bool again = false;      ///< awaited candidates have arrived; false: Tab was pressed
};

struct Completion {
  /// Candidates with one meaning: "--recursive, -R".
  struct Described {
    std::string names;
    std::string meaning;
  };
  std::size_t begin = 0;  ///< the bytes from here to the cursor …
  std::string text;       ///< … are replaced by this
  /// If that changes nothing: the candidates to list above the line; perhaps only the first ones.
  std::vector<std::string> list{};
  /// The same with their meanings, listed instead where there is room; may be empty.
  std::vector<Described> described{};
  /// Returns the escape sequence that colours one of the list, or an empty one.
  std::function<std::string_view(std::string_view)> color{};
  /// What each of the list inserts when Tab steps through them; empty: it does not.
  std::vector<std::string> texts{};
  std::size_t count = 0;  ///< total number of candidates
  /// More will be known soon: does nothing until LineEditor::completion_came is called.
  bool awaited = false;
};
/// Called for each Tab, from C code: must neither block nor throw.
using Completer = std::function<Completion(const CompletionRequest&)>;

/// A hint shown dim after the line being typed.
struct LineHint {
  std::string text;
  bool takeable = false;  ///< Right, End, Ctrl-E and, word by word, Alt-F accept it
};

/// Edits lines, one after another. Readline's state is global, so there is one LineEditor at a
/// time, used only on the main thread. No member blocks, except on a terminal that accepts no
/// output.
///
/// Pasted text is edited like typed text, including its newlines, as one line.
///
/// The poll loop polls the input while reads() is true, calls feed() when it is readable or
/// pending() is true, and forwards signals: SIGINT to interrupt(), SIGWINCH to resize(), SIGTSTP to
/// suspend(), SIGCONT to resume(). Between an accepted line and the next begin(), the terminal has
/// its normal modes, and input stays in it for other programs.
class LineEditor {
 public:
  struct Options {
    int in = 0;
    int out = 1;
    /// Called with an accepted line, or with nullopt after Ctrl-D on an empty line or if the
    /// terminal is gone. The editor is inactive then, and its members may be called.
    std::function<void(std::optional<std::string>)> on_line;
    /// The same for a line that is to be edited in an editor: Ctrl-X Ctrl-E, and v in vi's command
    /// mode. Empty: these keys do nothing.
    std::function<void(const std::string&)> on_edit{};
    std::function<bool(int fd)> await_writable{};  ///< false: drop the output
    Completer complete{};                          ///< empty: Tab does nothing
    /// Called when the cursor is at the end of the line, with the rest of the newest history line
    /// that begins with it (empty: there is none). Must neither block nor throw. Empty: no hints.
    std::function<LineHint(std::string_view line, std::string_view history_rest)> hint{};
    /// Whether a history line may be passed to `hint`. Must neither block nor throw. Empty: all
    /// may.
    std::function<bool(std::string_view line)> may_suggest{};
    /// Returns the styles of a line. Must neither block nor throw. Empty: no styles.
    std::function<std::vector<StyledBytes>(std::string_view line, std::size_t cursor)> styles{};
    /// Whether a text needs another line before it can be accepted; Enter then adds a newline. Must
    /// neither block nor throw. Empty: never.
    std::function<bool(std::string_view text)> is_unfinished{};
    /// For programs that read the terminal: nothing is sent to it but the text and what moves the
    /// cursor.
    bool bare = false;
  };

  /// Reads ~/.inputrc (application name "zksh"). Sets LC_CTYPE: call it before starting threads.
  explicit LineEditor(Options options);
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;
  /// Leaves the line being edited, if any, and restores the terminal.
  ~LineEditor();

  /// Shows the prompt, which may contain SGR sequences and newlines, and starts editing a line.
  /// `at_row_begin`: the last output ended its line.
  void begin(std::string prompt, bool at_row_begin = false);
  /// Has the next line begin with this text.
  void carry(std::string text) { carried_text_ = std::move(text); }
  /// Changes the prompt of the line being edited.
  void set_prompt(std::string prompt);
  /// Stops editing; the text is dropped, but remains visible.
  void end();
  bool active() const { return active_; }
  /// Whether keys are accepted now: while active, unless Enter waits for a completion.
  bool reads() const { return active_ && !(awaited_ && awaited_->enter); }
  /// The text being typed; empty if inactive.
  std::string text() const;

  /// Processes pending keys, at most about 64 KiB. Accepts at most one line.
  void feed();
  /// Whether input is buffered: call feed() without polling.
  bool pending() const;

  /// Awaited candidates are slow: shows that after the line until they arrive or a key does. Drops
  /// an Enter that waits for them, with the keys after it.
  void completion_is_slow();
  /// Awaited candidates have arrived: completes as if Tab were pressed now, unless the line or the
  /// cursor has changed since. An Enter after the Tab accepts the line if there is one candidate;
  /// otherwise it is dropped, with the keys after it.
  void completion_came();

  /// Ctrl-C: drops the line, which stays visible, and prompts again.
  void interrupt();
  /// The terminal's size may have changed.
  void resize();
  /// Restores the terminal before a stop, leaving the line on the screen. resume() shows it again,
  /// also after a stop without suspend().
  void suspend();
  void resume();

  /// Prints above the line being edited, or just prints if there is none. While editing, an
  /// unfinished last line is held back until its newline or the end of editing.
  void print(std::string_view bytes);

  /// Appends to the history for up, down and Ctrl-R, which keeps the last 10000 lines.
  static void remember(const std::string& line);
  /// The lines of the history that contain a text, oldest first. Not while a line is edited.
  static std::vector<std::string> remembered_with(std::string_view text);

 private:
  struct Bridge;  ///< readline's C callbacks
  struct CloseFile {
    void operator()(FILE* file) const { std::fclose(file); }
  };
  using FilePointer = std::unique_ptr<FILE, CloseFile>;

  /// A completion that waits for its candidates, and what was typed then.
  struct Awaited {
    std::string line;
    int cursor = 0;
    bool slow = false;
    bool enter = false;  ///< was pressed after the Tab
  };

  /// Listed candidates, through which Tab goes while nothing else changes the line.
  struct Menu {
    std::size_t begin = 0;           ///< where they stand in the line
    std::vector<std::string> texts;  ///< the last: what was typed
    std::size_t at = 0;
    std::string line;  ///< as the last Tab left it; so is the cursor
    int cursor = 0;
  };

  /// The way through the history that the last Up or Down began.
  struct Recall {
    std::string prefix;   ///< of the lines to stop at; empty: at all
    std::string shown{};  ///< the line as the last of those keys left it
  };

  void set_up_readline();
  void bind_keys();
  void start_line() const;
  void prepare_terminal();
  void release_terminal();
  void paint();
  void paint_line(std::string_view prompt, std::string_view text, std::size_t cursor,
                  std::string_view hint);
  void paint_at_end(std::string_view suffix);
  void leave_line();
  void read_keys();
  void insert_paste();
  void drop_enter();
  void deliver();
  void hand_over();
  void drop_queued();
  std::size_t complete(bool again);
  bool walk_menu(bool back);
  int recall(int direction, int count, int key);
  bool still_awaited() const;
  std::string_view hint_now();
  bool take_hint(bool one_word);

  Options options_;
  FilePointer input_file_;  ///< from which readline gets the terminal's modes
  FilePointer sink_;        ///< receives what readline itself would draw
  bool dumb_;
  bool bracketed_paste_ = false;
  bool other_charset_ = false;  ///< the environment's charset is not UTF-8
  KeyInput input_;
  Painter painter_;
  std::string prompt_;
  std::string unfinished_output_;
  std::string carried_text_;  ///< the beginning of the next line
  std::optional<Awaited> awaited_;
  std::optional<Menu> menu_;
  std::optional<Recall> recall_;
  LineHint hint_;
  std::optional<std::string> hinted_line_;  ///< the line that hint_ is for
  std::string paste_;                       ///< the part of a paste received so far
  bool pasting_ = false;
  bool leaves_to_edit_ = false;  ///< the key that opens an editor was pressed
  bool active_ = false;
  bool suspended_ = false;
  std::deque<std::optional<std::string>> accepted_;
};

}  // namespace zksh
