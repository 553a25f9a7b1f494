// Line editor: GNU readline driven by a poll loop, with output above the line that is typed.
#pragma once

#include "term/painter.h"

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// Reads no more than it is asked for, so that what was typed ahead stays in the terminal for the
/// program that runs next.
class KeyInput {
 public:
  explicit KeyInput(int fd) : fd_(fd) {}

  /// So many bytes may be taken until the next call: keeps a flood from stopping the poll loop.
  void set_budget(std::size_t bytes) { budget_ = bytes; }
  /// Whether a byte can be taken now, or within the time.
  bool ready(std::chrono::microseconds wait = {});
  /// The next byte; -1 when none comes within two seconds. Readline asks in the middle of a
  /// character or a key, whose bytes come together.
  int next();
  /// The terminal is gone: no more bytes will come.
  bool ended() const { return ended_; }

  /// Puts a byte before those that come.
  void put_back(char byte) { ahead_.push_front(byte); }
  bool has_ahead() const { return !ahead_.empty(); }
  void drop_ahead() { ahead_.clear(); }

  /// Moves what has come of a bracketed paste to `paste`; true when its end was there.
  bool take_paste(std::string& paste);

 private:
  bool poll_terminal(std::chrono::microseconds wait);
  bool take_byte(char& byte);

  int fd_;
  std::deque<char> ahead_;
  std::size_t known_ = 0;  ///< bytes that can be read without blocking
  std::size_t budget_ = 0;
  bool ended_ = false;
};

/// What a Completer is asked.
struct CompletionRequest {
  std::string_view line;
  std::size_t cursor = 0;  ///< a byte offset
  std::size_t room = 0;    ///< how many candidates can be listed, about
  bool again = false;      ///< what was awaited has come; false: Tab was pressed
};

struct Completion {
  std::size_t begin = 0;  ///< what stands from this byte of the line to the cursor …
  std::string text;       ///< … becomes this
  /// When that changes nothing: the candidates, listed above the line; perhaps the first alone.
  std::vector<std::string> list{};
  std::size_t count = 0;  ///< of all candidates
  /// More can be said soon: nothing is done before LineEditor::completion_came is called.
  bool awaited = false;
};
/// Is called for each Tab, from C code: it must neither block nor throw.
using Completer = std::function<Completion(const CompletionRequest&)>;

/// What is shown dim behind the line that is typed.
struct LineHint {
  std::string text;
  bool takeable = false;  ///< Right, End, Ctrl-E and, word by word, Alt-F add it to the line
};

/// Edits one line after the other. Readline's state is global: one LineEditor at a time, main
/// thread only. No member blocks, but for a terminal that does not take its output.
///
/// What is pasted is edited like what is typed, with its newlines: all of it is one line to be
/// accepted.
///
/// The loop polls the input when reads(), calls feed() when it is readable or pending() is true,
/// and hands on what its signalfd says: SIGINT to interrupt(), SIGWINCH to resize(), SIGTSTP to
/// suspend(), SIGCONT to resume(). Between an accepted line and the next begin() the terminal is in
/// its normal modes, and bytes stay in it for whoever reads them.
class LineEditor {
 public:
  struct Options {
    int in = 0;
    int out = 1;
    /// A line was accepted, or std::nullopt: Ctrl-D on an empty line, or the terminal is gone. The
    /// editor is inactive then, and its members may be called.
    std::function<void(std::optional<std::string>)> on_line;
    std::function<bool(int fd)> await_writable{};  ///< false: what is to be drawn is dropped
    Completer complete{};                          ///< none: Tab does nothing
    /// Asked for each line with the cursor at its end, with the rest of the newest line of the
    /// history that begins so (empty: there is none). Must neither block nor throw. None: no hints.
    std::function<LineHint(std::string_view line, std::string_view history_rest)> hint{};
    /// The styles of a line. Must neither block nor throw. None: the line is plain.
    std::function<std::vector<StyledBytes>(std::string_view line, std::size_t cursor)> styles{};
    /// Whether a text wants another line before it can be accepted: Enter adds a newline to it
    /// then. Must neither block nor throw. None: no text does.
    std::function<bool(std::string_view text)> goes_on{};
  };

  /// Reads ~/.inputrc (application name "zksh"). Sets LC_CTYPE: call it before threads start.
  explicit LineEditor(Options options);
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;
  /// Leaves the line, if one is being edited, and restores the terminal.
  ~LineEditor();

  /// Shows the prompt and starts editing a line. The prompt may hold SGR sequences and newlines.
  void begin(std::string prompt);
  /// Changes the prompt of the line being edited.
  void set_prompt(std::string prompt);
  /// Stops editing; what was typed stays visible and is dropped.
  void end();
  bool active() const { return active_; }
  /// Whether keys are taken now: while one is active, unless Enter waits for a completion.
  bool reads() const { return active_ && !(awaited_ && awaited_->enter); }
  /// What is being typed; empty when inactive.
  std::string text() const;

  /// Takes the keys that have come, some 64 KiB at most. Accepts one line at most.
  void feed();
  /// Input is waiting inside: call feed() without polling.
  bool pending() const;

  /// What a Completer awaits is slow to come: says so behind the line, until it comes or a key
  /// does. An Enter that waits for it is dropped, with the keys behind it.
  void completion_is_slow();
  /// What a Completer awaits has come. The completion is done as if Tab were pressed now, unless
  /// the line or the cursor has changed since. An Enter behind the Tab takes the line if there is
  /// one candidate; else it is dropped, with the keys behind it.
  void completion_came();

  /// Ctrl-C: drops the line visibly, and prompts again.
  void interrupt();
  /// The terminal's size may have changed.
  void resize();
  /// Gives the terminal back and leaves the line on the screen, for a stop; resume() shows it
  /// again.
  void suspend();
  void resume();

  /// Prints above the line being edited, which stays as it is; just prints when there is none.
  /// While one is edited, what comes after the last newline is held back until its newline or the
  /// end of editing comes.
  void print(std::string_view bytes);

  /// Appends to the history that up, down and Ctrl-R go through. Keeps the last 10 000 lines.
  static void remember(const std::string& line);
  /// Whether a line of the history may stand as a hint behind what begins like it; all may, until
  /// this says otherwise.
  void set_suggested(const std::string& line, bool wanted);

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
    bool enter = false;  ///< was pressed behind the Tab
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
  bool hold_enter();
  void drop_enter();
  bool continue_text() const;
  void deliver();
  void drop_queued();
  std::size_t complete(bool again);
  bool still_awaited() const;
  std::string_view hint_now();
  bool take_hint(bool one_word);

  Options options_;
  FilePointer input_file_;  ///< what readline takes the terminal's modes from
  FilePointer sink_;        ///< takes what readline itself would draw
  bool dumb_;
  bool bracketed_paste_ = false;
  bool other_charset_ = false;  ///< than UTF-8 is what the environment asks for
  KeyInput input_;
  Painter painter_;
  std::string prompt_;
  std::string unfinished_output_;
  std::string carried_text_;  ///< begins the next line
  std::optional<Awaited> awaited_;
  LineHint hint_;
  std::optional<std::string> hinted_line_;  ///< what hint_ is for
  std::set<std::string, std::less<>> unsuggested_;
  std::string paste_;  ///< what has come of a paste
  bool pasting_ = false;
  bool active_ = false;
  bool suspended_ = false;
  std::deque<std::optional<std::string>> accepted_;
};

}  // namespace zksh
