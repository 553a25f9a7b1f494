// LineEditor: GNU Readline driven by a poll loop, with output above the line being typed.
#include "term/line_editor.h"

#include "base/column_table.h"
#include "base/error.h"
#include "base/mapped.h"
#include "base/text.h"
#include "term/terminal.h"

#include <fmt/core.h>
#include <readline/history.h>
#include <readline/readline.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cctype>
#include <cerrno>
#include <cstdio>  // which readline's headers need
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

namespace zksh {
namespace {

constexpr std::string_view erase_to_end_of_row = "\033[K";
constexpr std::string_view erase_below = "\033[J";

/// A line for each meaning; empty if there is too little room.
std::string described_list(const std::vector<Completion::Described>& described, std::size_t columns,
                           std::size_t row_limit) {
  constexpr std::size_t least_meaning = 24;
  constexpr std::size_t gap = 2;
  std::size_t widest = 0;
  std::size_t needed = 0;
  for (const auto& [names, meaning] : described) {
    widest = std::max(widest, text_width(names) + gap);
    needed = std::max(needed, std::min(text_width(meaning), least_meaning));
  }
  if (described.size() > row_limit || widest + needed > columns) return {};
  std::string list;
  for (const auto& [names, meaning] : described)
    list += fmt::format("{}{:{}}{}\n", names, "", widest - text_width(names),
                        cut_after_word(meaning, columns - widest));
  return list;
}

/// Lists as many candidates as fit on the screen above the edited line, in columns; if there are
/// more, a last line says how many are missing. Control characters are escaped.
std::string candidate_list(const Completion& found, ScreenSize screen) {
  const auto columns = static_cast<std::size_t>(std::max(1, screen.columns));
  const auto row_limit = static_cast<std::size_t>(std::max(1, screen.rows - 3));
  if (auto list = described_list(found.described, columns, row_limit); !list.empty()) return list;
  const auto texts = mapped(
      found.list, [](const std::string& candidate) { return escape_for_terminal(candidate); });
  const auto shown = std::min(texts.size(), texts_in_a_row(texts, columns) * row_limit);
  auto list = in_text_columns(texts, shown, columns, found.color);
  if (shown < found.count) list += fmt::format("… and {} more\n", found.count - shown);
  return list;
}

constexpr std::size_t bytes_per_feed = std::size_t{64} << 10U;
constexpr std::size_t remembered_line_limit = std::size_t{1} << 20U;
constexpr std::string_view bracketed_paste_on = "\033[?2004h";
constexpr std::string_view bracketed_paste_off = "\033[?2004l";

constexpr int remembered_lines = 10'000;

/// The text being typed; valid until readline is called again.
std::string_view readline_text() {
  return rl_line_buffer == nullptr
             ? std::string_view()
             : std::string_view(rl_line_buffer, static_cast<std::size_t>(rl_end));
}

bool readline_variable_is_on(const char* name) {
  const char* value = rl_variable_value(name);
  return value != nullptr && std::string_view(value) == "on";
}

/// The mode indicator that `show-mode-in-prompt` in ~/.inputrc puts before the prompt.
std::string mode_mark() {
  if (!readline_variable_is_on("show-mode-in-prompt")) return {};
  constexpr int emacs = 1;
  const bool vi_command = rl_get_keymap() == rl_get_keymap_by_name("vi-command");
  const char* mark = rl_variable_value(rl_editing_mode == emacs ? "emacs-mode-string"
                                       : vi_command             ? "vi-cmd-mode-string"
                                                                : "vi-ins-mode-string");
  return mark == nullptr ? std::string() : std::string(mark);
}

/// Not /dev/null, which may be missing where zksh is the only file.
ssize_t discard(void* /*cookie*/, const char* /*bytes*/, std::size_t size) {
  return static_cast<ssize_t>(size);
}

FILE* or_throw(FILE* file) {
  if (file == nullptr)
    throw Error(std::string("cannot set up the line editor: ") + std::strerror(errno));
  return file;
}

constexpr auto common_keys = std::to_array<std::pair<const char*, rl_command_func_t*>>({
    {"\\e[3~", rl_delete},
    {"\\e[1~", rl_beg_of_line},
    {"\\e[7~", rl_beg_of_line},
    {"\\e[4~", rl_end_of_line},
    {"\\e[8~", rl_end_of_line},
    {"\\e[1;5C", rl_forward_word},
    {"\\e[1;5D", rl_backward_word},
});

constexpr std::string_view slow_note = "  … asking the server";

/// The rest of the newest history line that begins with this text and may be suggested; empty if
/// there is none.
std::string_view rest_of_newest(std::string_view text,
                                const std::function<bool(std::string_view)>& may_suggest) {
  HIST_ENTRY** const entries = text.empty() ? nullptr : history_list();
  if (entries == nullptr) return {};
  for (int i = history_length - 1; i >= 0; --i) {
    const std::string_view line = entries[i]->line;
    if (line.size() > text.size() && line.starts_with(text) && (!may_suggest || may_suggest(line)))
      return line.substr(text.size());
  }
  return {};
}

/// The length of the first word with what precedes it; words are letters and digits.
std::size_t first_word(std::string_view text) {
  const auto is_in_word = [&](std::size_t at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    return byte >= 0x80 || std::isalnum(byte) != 0;
  };
  std::size_t end = 0;
  while (end < text.size() && !is_in_word(end)) ++end;
  while (end < text.size() && is_in_word(end)) ++end;
  return end;
}

/// Whether readline is in a state (a search, a count, a multi-byte key) that changing the line
/// would confuse.
bool readline_is_busy() {
  return RL_ISSTATE(RL_STATE_ISEARCH | RL_STATE_NSEARCH | RL_STATE_NUMERICARG | RL_STATE_MULTIKEY |
                    RL_STATE_METANEXT | RL_STATE_MOREINPUT | RL_STATE_VIMOTION) != 0;
}

void replace_before_cursor(std::size_t begin, const std::string& text) {
  rl_begin_undo_group();
  rl_delete_text(static_cast<int>(begin), rl_point);
  rl_point = static_cast<int>(begin);
  rl_insert_text(text.c_str());
  rl_end_undo_group();
}

constexpr std::string_view paste_end = "\033[201~";
constexpr std::chrono::seconds patience{2};

constexpr std::array keymap_names{"emacs", "vi-insert", "vi-command"};

/// Binds the keys of `replaced` to `function`, in every keymap.
void take_over(rl_command_func_t* replaced, rl_command_func_t* function) {
  for (const char* name : keymap_names) {
    Keymap map = rl_get_keymap_by_name(name);
    char** keys = rl_invoking_keyseqs_in_map(replaced, map);
    if (keys == nullptr) continue;
    for (char** key = keys; *key != nullptr; ++key) {
      rl_bind_keyseq_in_map(*key, function, map);
      std::free(*key);
    }
    std::free(static_cast<void*>(keys));
  }
}

/// The beginning of the line that contains the cursor.
std::size_t line_begin(std::string_view text, std::size_t cursor) {
  const auto newline = cursor == 0 ? std::string_view::npos : text.rfind('\n', cursor - 1);
  return newline == std::string_view::npos ? 0 : newline + 1;
}

/// Moves the cursor there, or from within a character to its beginning.
int move_to_character(std::size_t at) {
  const auto text = readline_text();
  rl_point = static_cast<int>(at < text.size() ? character_begin(text, at) : at);
  return 0;
}

}  // namespace

void Painter::flush() {
  // A ready terminal accepts at least this much without blocking.
  constexpr std::size_t safe_size = 512;
  std::string_view rest = pending_;
  while (!rest.empty()) {
    if (wait_ && !wait_(fd_)) break;
    const ssize_t written = write(fd_, rest.data(), std::min(rest.size(), safe_size));
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {  // another process made the shared description non-blocking
      pollfd ready{fd_, POLLOUT, 0};
      poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      break;
    }
  }
  pending_.clear();
}

void Painter::find_fresh_row() {
  if (dumb_) return;
  // Blanks up to the last column wrap only if the cursor was not in column 0.
  send("\033[7m%\033[m");
  pending_.append(static_cast<std::size_t>(screen_.columns - 1), ' ');
  send("\r");
  send(erase_to_end_of_row);
}

void Painter::begin_row() {
  if (bare_) return;
  send("\r");
  if (!dumb_) send(erase_to_end_of_row);
}

void Painter::forget() {
  if (!dumb_) erase();
  single_row_.clear();
}

void Painter::paint(const EditedLine& line) {
  if (dumb_)
    paint_single_row(line);
  else
    paint_rows(lay_out(line, screen_));
}

void Painter::paint_rows(const Layout& layout) {
  for (std::size_t i = 0; i < layout.rows.size(); ++i) {
    if (i >= painted_.size()) {
      if (i > 0) open_row(layout, static_cast<int>(i));
      painted_.emplace_back();
    }
    paint_row(static_cast<int>(i), painted_[i], layout.rows[i]);
  }
  if (painted_.size() > layout.rows.size()) {
    move_to(static_cast<int>(layout.rows.size()), 0);
    send(erase_below);
    // The erased rows still exist for cursor movement.
  }
  move_to(layout.cursor_row, layout.cursor_column);
  painted_ = layout.rows;
}

void Painter::paint_row(int row, const Row& before, const Row& wanted) {
  const auto [was, now] = std::ranges::mismatch(before.cells, wanted.cells);
  if (was == before.cells.end() && now == wanted.cells.end()) return;
  int column = 0;
  std::for_each(wanted.cells.begin(), now, [&](const Cell& cell) { column += cell.width; });
  move_to(row, column);
  put_cells(wanted, static_cast<std::size_t>(now - wanted.cells.begin()));
  // After the last column, the sequence would erase the last character.
  if (before.columns() > column_) send(erase_to_end_of_row);
}

/// Creates the row below the last painted one. A continuation row is entered by wrapping, so that
/// the terminal treats both as one line when it is resized or copied from.
void Painter::open_row(const Layout& layout, int row) {
  const Row& above = layout.rows[static_cast<std::size_t>(row - 1)];
  if (!above.wraps) {
    move_to(row - 1, 0);
    send("\r\n");
  } else {
    if (row_ != row - 1 || column_ != screen_.columns) {
      move_to(row - 1, screen_.columns - above.cells.back().width);
      put_cells(above, above.cells.size() - 1);
    }
    if (!bare_ || !layout.rows[static_cast<std::size_t>(row)].begins_in_prompt) send(" \r");
  }
  row_ = row;
  column_ = 0;
}

void Painter::put_cells(const Row& row, std::size_t first_cell) {
  for (std::size_t i = first_cell; i < row.cells.size(); ++i) {
    put_style(row.cells[i].style);
    send(row.cells[i].text);
    column_ += row.cells[i].width;
  }
  put_style("");
}

void Painter::put_style(const std::string& style) {
  if (style == style_) return;
  send("\033[m");
  send(style);
  style_ = style;
}

void Painter::move_to(int row, int column) {
  if (row < row_) pending_ += fmt::format("\033[{}A", row_ - row);
  if (row > row_) pending_ += fmt::format("\033[{}B", row - row_);
  row_ = row;
  if (column == column_) return;
  // After the last column, terminals differ in where the cursor is, so start from the first.
  if (column == 0 || column_ >= screen_.columns) {
    send("\r");
    column_ = 0;
  }
  if (column > column_) pending_ += fmt::format("\033[{}C", column - column_);
  if (column < column_) pending_ += fmt::format("\033[{}D", column_ - column);
  column_ = column;
}

void Painter::erase() {
  if (dumb_) {
    if (single_row_columns_ > 0) {
      send("\r");
      pending_.append(static_cast<std::size_t>(single_row_columns_), ' ');
      send("\r");
    }
    single_row_columns_ = 0;
    single_row_.clear();
    return;
  }
  if (painted_.empty()) return;
  move_to(0, 0);
  send(erase_to_end_of_row);
  // Erasing everything from the screen's first position makes tmux and others keep it in their
  // scrollback.
  if (painted_.size() > 1 && screen_.rows > 1) {
    send("\033[B");
    send(erase_below);
    send("\033[A");
  }
  painted_.clear();
}

void Painter::leave() {
  const int last_row = static_cast<int>(painted_.size()) - 1;
  if (!dumb_ && !painted_.empty()) move_to(last_row, bare_ && row_ == last_row ? column_ : 0);
  send(bare_ ? "\n" : "\r\n");
  start_anew();
}

void Painter::start_anew() {
  painted_.clear();
  row_ = column_ = 0;
  single_row_.clear();
  single_row_columns_ = 0;
}

void Painter::clear_screen() {
  if (dumb_) return;
  send("\033[H\033[2J");
  start_anew();
}

void Painter::resize(ScreenSize screen) {
  screen_ = screen;
  if (painted_.empty() || dumb_) return;
  // Wrapped rows are one line for the terminal, which rewraps it at its new width.
  int row = 0;
  int column = 0;
  int cursor_row = 0;
  for (std::size_t i = 0; i < painted_.size(); ++i) {
    int old_column = 0;
    for (const Cell& cell : painted_[i].cells) {
      if (column + cell.width > screen.columns) {
        ++row;
        column = 0;
      }
      if (static_cast<int>(i) == row_ && old_column <= column_) cursor_row = row;
      old_column += cell.width;
      column += cell.width;
    }
    if (static_cast<int>(i) == row_ && old_column <= column_)
      cursor_row = row + (column < screen.columns ? 0 : 1);
    if (painted_[i].wraps && i + 1 < painted_.size()) continue;
    ++row;
    column = 0;
  }
  row_ = std::min(cursor_row, screen.rows - 1);
  column_ = screen.columns;  // unknown: the next move starts with CR
  painted_.resize(static_cast<std::size_t>(row));
  erase();
}

void Painter::paint_single_row(const EditedLine& line) {
  // Laid out in one row, from which the part that fits is cut.
  const ScreenSize endless{std::numeric_limits<int>::max() / 2, 1};
  constexpr std::size_t window = 4096;
  EditedLine near = line;
  near.styles =
      {};  // a dumb terminal has no styles, and could not distinguish a hint from the line
  near.hint = {};
  near.one_row = true;
  if (near.cursor > window) {
    near.prompt = "<";
    near.text.remove_prefix(near.cursor - window);
    near.cursor = window;
  }
  near.text = near.text.substr(0, near.cursor + window);
  const Layout layout = lay_out(near, endless);
  const Row& row = layout.rows.back();
  const int room = bare_ ? endless.columns : std::max(screen_.columns - 1, 2);
  const int half = room / 2;
  const int first = std::max(0, (layout.cursor_column / half - 1) * half);

  std::string all;
  int at = 0;
  int shown = 0;
  int before_cursor = 0;
  for (const Cell& cell : row.cells) {
    if (at >= first && at + cell.width - first <= room) {
      all += cell.text;
      shown += cell.width;
      if (at < layout.cursor_column) before_cursor += cell.width;
    }
    at += cell.width;
  }
  // Text typed at the end is only appended, so that a program that reads the terminal finds each
  // prompt once.
  if (!single_row_.empty() && all.starts_with(single_row_) && shown >= single_row_columns_)
    send(std::string_view(all).substr(single_row_.size()));
  else
    send((bare_ && single_row_columns_ == 0 ? "" : "\r") + all);
  const int blanks = std::max(0, single_row_columns_ - shown);
  pending_.append(static_cast<std::size_t>(blanks), ' ');
  pending_.append(static_cast<std::size_t>(blanks + shown - before_cursor), '\b');
  single_row_ = before_cursor == shown ? all : "";
  single_row_columns_ = shown;
}

/// Readline's callbacks have no context argument, so there is one current editor.
struct LineEditor::Bridge {
  static inline LineEditor* current = nullptr;

  static int next_byte(FILE* /*file*/) { return current->input_.next(); }

  static int input_available() {
    const int microseconds = rl_set_keyboard_input_timeout(0);
    rl_set_keyboard_input_timeout(microseconds);
    return current->input_.ready(std::chrono::microseconds(microseconds)) ? 1 : 0;
  }

  static void accept(char* line) {
    current->accepted_.push_back(line == nullptr ? std::nullopt : std::optional<std::string>(line));
    std::free(line);
  }

  static int begin_paste(int /*count*/, int /*key*/) {
    current->pasting_ = true;
    return 0;
  }

  static int clear_screen(int /*count*/, int /*key*/) {
    current->painter_.clear_screen();
    return 0;
  }

  static int redraw(int /*count*/, int /*key*/) {
    current->painter_.erase();
    return 0;
  }

  template <bool backward>
  static int complete(int /*count*/, int /*key*/) {
    if (!current->walk_menu(backward)) current->complete(false);
    return 0;
  }

  static int edit_line(int /*count*/, int /*key*/) {
    if (!current->options_.on_edit) return rl_ding();
    current->leaves_to_edit_ = true;
    return 0;
  }

  static int accept_line(int count, int key) {
    // While candidates of a Tab are awaited, the line is not the intended one yet.
    if (current->still_awaited() && !current->awaited_->slow) {
      current->awaited_->enter = true;
      return 0;
    }
    const auto& is_unfinished = current->options_.is_unfinished;
    if (!is_unfinished || !is_unfinished(readline_text())) return rl_newline(count, key);
    rl_point = rl_end;
    rl_insert_text("\n");
    return 0;
  }

  /// Moves to the line above, in a text of several lines, or else through the history (recall).
  static int previous_line(int count, int key) {
    const auto text = readline_text();
    const auto cursor = static_cast<std::size_t>(rl_point);
    const auto begin = line_begin(text, cursor);
    if (begin == 0) return current->recall(-1, count, key);
    const auto above = line_begin(text, begin - 1);
    return move_to_character(std::min(above + cursor - begin, begin - 1));
  }

  static int next_line(int count, int key) {
    const auto text = readline_text();
    const auto cursor = static_cast<std::size_t>(rl_point);
    const auto end = text.find('\n', cursor);
    if (end == std::string_view::npos) return current->recall(1, count, key);
    const auto below_end = std::min(text.find('\n', end + 1), text.size());
    return move_to_character(std::min(end + 1 + cursor - line_begin(text, cursor), below_end));
  }

  template <rl_command_func_t* otherwise>
  static int take_hint_or(int count, int key) {
    return current->take_hint(otherwise == rl_forward_word) ? 0 : otherwise(count, key);
  }
};

LineEditor::LineEditor(Options options)
    : options_(std::move(options)),
      input_file_(or_throw(fdopen(fcntl(options_.in, F_DUPFD_CLOEXEC, 3), "r"))),
      sink_(or_throw(fopencookie(nullptr, "w", {nullptr, discard, nullptr, nullptr}))),
      dumb_(terminal_is_dumb()),
      input_(options_.in),
      painter_(options_.out, dumb_, options_.bare, options_.await_writable) {
  assert(Bridge::current == nullptr);
  Bridge::current = this;
  set_up_readline();
}

LineEditor::~LineEditor() {
  end();
  rl_callback_handler_remove();
  rl_instream = nullptr;
  rl_outstream = nullptr;
  Bridge::current = nullptr;
}

void LineEditor::set_up_readline() {
  other_charset_ = use_utf8_locale();
  rl_readline_name = "zksh";
  rl_instream = input_file_.get();
  rl_outstream = sink_.get();
  rl_catch_signals = 0;
  rl_catch_sigwinch = 0;
  rl_change_environment = 0;  // LINES and COLUMNS would be wrong in programs started later
  rl_prep_term_function = nullptr;
  rl_deprep_term_function = nullptr;
  rl_getc_function = Bridge::next_byte;
  rl_input_available_hook = Bridge::input_available;
  for (const char* name : {"edit-and-execute-command", "vi-edit-and-execute-command"})  // bash's
    rl_add_defun(name, Bridge::edit_line, -1);
  rl_initialize();
  rl_redisplay_function = [] {};  // if set earlier, it would disable bracketed paste
  // By default Ctrl-J ends a search and keeps the line; here Enter sends the same (see
  // prepare_terminal).
  const char* terminators = rl_variable_value("isearch-terminators");
  if (terminators == nullptr || *terminators == '\0')
    rl_variable_bind("isearch-terminators", "\\e");
  // The bell goes to stderr, which may be a file.
  if (!is_terminal(STDERR_FILENO)) rl_variable_bind("bell-style", "none");
  bracketed_paste_ = !dumb_ && !options_.bare && readline_variable_is_on("enable-bracketed-paste");
  bind_keys();
  stifle_history(remembered_lines);
}

void LineEditor::bind_keys() {
  // What Debian's /etc/inputrc binds: elsewhere these keys would do nothing, without terminfo not
  // even Delete. Where somebody has bound them, they stay.
  for (const auto& [sequence, function] : common_keys)
    rl_bind_keyseq_if_unbound(sequence, function);
  rl_bind_keyseq_if_unbound_in_map("\\C-x\\C-e", Bridge::edit_line, rl_get_keymap_by_name("emacs"));
  rl_bind_keyseq_if_unbound_in_map("v", Bridge::edit_line, rl_get_keymap_by_name("vi-command"));
  take_over(rl_clear_screen, Bridge::clear_screen);
  take_over(rl_clear_display, Bridge::clear_screen);
  take_over(rl_refresh_line, Bridge::redraw);
  // Readline's own functions would wait for candidates, and sort and compare all of them.
  for (auto* const completes : {rl_complete, rl_possible_completions, rl_insert_completions,
                                rl_menu_complete, rl_old_menu_complete})
    take_over(completes, Bridge::complete<false>);
  take_over(rl_backward_menu_complete, Bridge::complete<true>);
  take_over(rl_vi_complete, Bridge::complete<false>);
  take_over(rl_newline, Bridge::accept_line);
  take_over(rl_get_previous_history, Bridge::previous_line);
  take_over(rl_get_next_history, Bridge::next_line);
  take_over(rl_forward_char, Bridge::take_hint_or<rl_forward_char>);
  take_over(rl_forward_word, Bridge::take_hint_or<rl_forward_word>);
  take_over(rl_end_of_line, Bridge::take_hint_or<rl_end_of_line>);
  for (const char* map : keymap_names) {
    rl_bind_keyseq_in_map("\\e[200~", Bridge::begin_paste, rl_get_keymap_by_name(map));
    rl_bind_keyseq_in_map("\\e[Z", Bridge::complete<true>, rl_get_keymap_by_name(map));
  }
}

/// Makes readline forget the previous line.
void LineEditor::start_line() const {
  rl_callback_handler_install("", Bridge::accept);
  if (!other_charset_) return;
  use_utf8_locale();  // readline sets the environment's locale for each line
  rl_variable_bind("input-meta", "on");
  rl_variable_bind("output-meta", "on");
  rl_variable_bind("convert-meta", "off");
}

void LineEditor::prepare_terminal() {
  rl_prep_terminal(1);
  // Maps Enter to newline, so that lines typed ahead are lines for the program that reads them,
  // unless the user has bound the two keys differently.
  termios modes{};
  if (rl_function_of_keyseq("\r", nullptr, nullptr) ==
          rl_function_of_keyseq("\n", nullptr, nullptr) &&
      tcgetattr(options_.in, &modes) == 0) {
    modes.c_iflag |= ICRNL;
    tcsetattr(options_.in, TCSANOW, &modes);
  }
  if (!bracketed_paste_) return;
  painter_.send(bracketed_paste_on);
  note_bracketed_paste(true);
}

void LineEditor::release_terminal() {
  if (bracketed_paste_) painter_.send(bracketed_paste_off);
  painter_.flush();
  note_bracketed_paste(false);
  rl_deprep_terminal();
}

void LineEditor::begin(std::string prompt, bool at_row_begin) {
  if (active_) return set_prompt(std::move(prompt));
  active_ = true;
  awaited_.reset();
  menu_.reset();
  recall_.reset();
  hinted_line_.reset();
  prompt_ = std::move(prompt);
  painter_.resize(screen_size(options_.out));
  if (at_row_begin)
    painter_.begin_row();
  else
    painter_.find_fresh_row();
  prepare_terminal();
  start_line();
  rl_insert_text(carried_text_.c_str());
  carried_text_.clear();
  paint();
}

void LineEditor::set_prompt(std::string prompt) {
  const bool changed = prompt != prompt_;
  prompt_ = std::move(prompt);
  if (!active_ || suspended_) return;
  // Whole: programs that read the terminal wait for a prompt, not for the letters that changed.
  if (changed) painter_.forget();
  paint();
}

void LineEditor::end() {
  drop_queued();
  if (!active_) return;
  if (!suspended_) {
    paint_at_end("");
    leave_line();
  }
  active_ = suspended_ = false;
}

std::string LineEditor::text() const {
  return active_ ? std::string(readline_text()) : std::string();
}

void LineEditor::paint() {
  // While readline asks for something (a search, a count), its message replaces the prompt.
  const bool message = rl_display_prompt != nullptr && *rl_display_prompt != '\0';
  const std::string prompt = message ? std::string(rl_display_prompt) : mode_mark() + prompt_;
  paint_line(prompt, readline_text(), static_cast<std::size_t>(rl_point),
             message ? std::string_view() : hint_now());
  painter_.flush();
}

void LineEditor::paint_line(std::string_view prompt, std::string_view text, std::size_t cursor,
                            std::string_view hint) {
  const auto styles = options_.styles ? options_.styles(text, cursor) : std::vector<StyledBytes>();
  painter_.paint(
      {.prompt = prompt, .text = text, .cursor = cursor, .styles = styles, .hint = hint});
}

/// Draws a line for the last time: as much as fits, with the cursor at its end.
void LineEditor::paint_at_end(std::string_view suffix) {
  const std::string text = std::string(readline_text()) + std::string(suffix);
  paint_line(prompt_, text, text.size(), {});
}

/// Moves below the line, and restores the terminal.
void LineEditor::leave_line() {
  painter_.leave();
  painter_.send(std::exchange(unfinished_output_, {}));
  release_terminal();
}

void LineEditor::feed() {
  if (!reads() || suspended_) return;
  input_.set_budget(bytes_per_feed);
  if (accepted_.empty()) read_keys();
  if (accepted_.empty() && input_.ended()) accepted_.emplace_back(std::nullopt);
  if (std::exchange(leaves_to_edit_, false))
    hand_over();
  else if (accepted_.empty())
    paint();
  else
    deliver();
}

void LineEditor::read_keys() {
  while (accepted_.empty() && reads() && !leaves_to_edit_) {
    if (pasting_) {
      if (!input_.take_paste(paste_)) return;
      insert_paste();
    } else if (input_.ready()) {
      rl_callback_read_char();
    } else {
      return;
    }
  }
}

/// Drops final newlines, except in a quote: the user decides with Enter when to run the lines.
void LineEditor::insert_paste() {
  pasting_ = false;
  std::string paste = std::exchange(paste_, {});
  std::erase(paste, '\0');  // readline's lines end there
  std::string text;
  for (std::size_t at = 0; at < paste.size(); ++at) {
    const bool pair = paste.compare(at, 2, "\r\n") == 0;
    if (!pair) text += paste[at] == '\r' ? '\n' : paste[at];
  }
  if (rl_get_keymap() == rl_get_keymap_by_name("vi-command")) rl_vi_insertion_mode(1, 'i');
  rl_begin_undo_group();
  rl_insert_text(text.c_str());
  const auto is_left_over = [this] {
    const auto shown = readline_text();
    return rl_point > 0 && rl_point == rl_end && shown.ends_with('\n') &&
           !(options_.is_unfinished && options_.is_unfinished(shown));
  };
  while (text.ends_with('\n') && is_left_over()) {
    rl_delete_text(rl_point - 1, rl_point);
    --rl_point;
    text.pop_back();
  }
  rl_end_undo_group();
}

bool LineEditor::pending() const {
  return reads() && !suspended_ && (!accepted_.empty() || input_.has_ahead());
}

void LineEditor::deliver() {
  const std::optional<std::string> line = std::move(accepted_.front());
  accepted_.pop_front();
  // A keyboard macro may have typed more after the line.
  carried_text_ = readline_text();
  const std::string_view shown = line ? std::string_view(*line) : std::string_view();
  if (other_charset_) use_utf8_locale();  // readline has set the environment's
  paint_line(prompt_, shown, shown.size(), {});
  leave_line();
  active_ = false;
  options_.on_line(line);
}

/// Leaves the line to an editor.
void LineEditor::hand_over() {
  const std::string line(readline_text());
  paint_at_end("");
  leave_line();
  rl_free_line_state();
  active_ = false;
  options_.on_edit(line);
}

void LineEditor::drop_queued() {
  awaited_.reset();
  accepted_.clear();
  carried_text_.clear();
  paste_.clear();
  pasting_ = false;
  input_.drop_ahead();
}

void LineEditor::interrupt() {
  drop_queued();
  if (!active_ || suspended_) return;
  paint_at_end("^C");
  painter_.leave();
  const auto unfinished = std::exchange(unfinished_output_, {});
  painter_.send(unfinished);
  rl_callback_sigcleanup();
  rl_free_line_state();
  if (!unfinished.empty()) painter_.find_fresh_row();
  start_line();
  paint();
}

void LineEditor::resize() {
  if (!active_ || suspended_) return;
  painter_.resize(screen_size(options_.out));
  paint();
}

void LineEditor::suspend() {
  if (!active_ || suspended_) return;
  suspended_ = true;
  paint_line(prompt_, readline_text(), static_cast<std::size_t>(rl_point), {});
  painter_.leave();
  release_terminal();
}

void LineEditor::resume() {
  if (!active_) return;
  if (!std::exchange(suspended_, false)) {
    // SIGSTOP comes without notice. Others have used the terminal since, and set its modes.
    painter_.start_anew();
    rl_deprep_terminal();
  }
  painter_.resize(screen_size(options_.out));
  painter_.find_fresh_row();
  prepare_terminal();
  paint();
}

void LineEditor::print(std::string_view bytes) {
  if (!active_ || suspended_) {
    painter_.send(bytes);
    painter_.flush();
    return;
  }
  constexpr std::size_t longest_line = 64U << 10U;
  const auto newline = bytes.rfind('\n');
  auto end = unfinished_output_.size() + newline;
  unfinished_output_ += bytes;
  if (newline == std::string_view::npos) {
    end = unfinished_output_.size();
    if (end < longest_line) return;
    unfinished_output_ += '\n';
  }
  painter_.erase();
  painter_.send(std::string_view(unfinished_output_).substr(0, end + 1));
  unfinished_output_.erase(0, end + 1);
  paint();
}

void LineEditor::remember(const std::string& line) {
  if (line.empty() || line.size() > remembered_line_limit) return;
  if (line.find('\0') == std::string::npos) add_history(line.c_str());
}

std::vector<std::string> LineEditor::remembered_with(std::string_view text) {
  std::vector<std::string> lines;
  HIST_ENTRY** const entries = history_list();
  for (int i = 0; i < history_length; ++i)
    if (const std::string_view line = entries[i]->line; line.find(text) != std::string_view::npos)
      lines.emplace_back(line);
  return lines;
}

/// The hint to show after the line now.
std::string_view LineEditor::hint_now() {
  if (dumb_ || rl_point != rl_end) return {};
  if (awaited_ && awaited_->slow && still_awaited()) return slow_note;
  const auto text = readline_text();
  if (!options_.hint || text.empty() || RL_ISSTATE(RL_STATE_ISEARCH | RL_STATE_NSEARCH)) return {};
  if (hinted_line_ != text) {
    hint_ = options_.hint(text, rest_of_newest(text, options_.may_suggest));
    hinted_line_ = text;
  }
  return hint_.text;
}

bool LineEditor::take_hint(bool one_word) {
  if (rl_point != rl_end || rl_end == 0) return false;
  hint_now();
  if (hinted_line_ != readline_text() || !hint_.takeable || hint_.text.empty()) return false;
  const std::string text = one_word ? hint_.text.substr(0, first_word(hint_.text)) : hint_.text;
  rl_insert_text(text.c_str());
  return true;
}

/// Goes back (-1) or forward in the history, to lines that begin with what stood before the cursor
/// when this began; if there are none, to any line.
int LineEditor::recall(int direction, int count, int key) {
  const auto text = readline_text();
  if (!recall_ || recall_->shown != text)
    recall_ = {.prefix = rl_get_keymap() == rl_get_keymap_by_name("vi-command")
                             ? std::string()
                             : std::string(text.substr(0, static_cast<std::size_t>(rl_point)))};
  HIST_ENTRY** const entries = history_list();
  int at = where_history();
  const auto matches = [&] {
    const std::string_view line = at < history_length ? entries[at]->line : "";
    return line.starts_with(recall_->prefix) && line != text;
  };
  if (!recall_->prefix.empty()) {
    do at += direction;
    while (at >= 0 && at < history_length && !matches());
    const bool has_begun = !recall_->shown.empty();
    if (at < 0 && has_begun) return rl_ding();
    if (at < 0)
      recall_->prefix.clear();
    else
      count = std::max(std::abs(at - where_history()), 1);
  }
  const int result =
      direction < 0 ? rl_get_previous_history(count, key) : rl_get_next_history(count, key);
  recall_->shown = readline_text();
  return result;
}

/// Returns the number of candidates; 0 while they are awaited.
std::size_t LineEditor::complete(bool again) {
  awaited_.reset();
  if (!options_.complete) return 0;
  const auto cursor = static_cast<std::size_t>(rl_point);
  constexpr int most_room = 200;
  constexpr int typical_columns = 4;  // a screenful of short names
  const int room = std::clamp(typical_columns * (painter_.screen().rows - 3), 1, most_room);
  auto found = options_.complete({.line = readline_text(),
                                  .cursor = cursor,
                                  .room = static_cast<std::size_t>(room),
                                  .again = again});
  const auto count = found.count;
  const bool gained = found.text != readline_text().substr(found.begin, cursor - found.begin);
  if (gained && !found.awaited) {
    replace_before_cursor(found.begin, found.text);
  } else if (found.awaited) {
    awaited_ = {.line = std::string(readline_text()), .cursor = rl_point};
  } else if (found.list.empty()) {
    if (!again) rl_ding();
  } else {
    print(candidate_list(found, painter_.screen()));
    if (!found.texts.empty()) {
      const auto last = found.texts.size();
      found.texts.push_back(std::move(found.text));
      menu_ = {.begin = found.begin,
               .texts = std::move(found.texts),
               .at = last,
               .line = std::string(readline_text()),
               .cursor = rl_point};
    }
  }
  return awaited_ ? 0 : count;
}

/// Returns false if nothing is listed for the line as it is now.
bool LineEditor::walk_menu(bool back) {
  if (!menu_ || menu_->cursor != rl_point || menu_->line != readline_text()) return false;
  const auto count = menu_->texts.size();
  menu_->at = (menu_->at + (back ? count - 1 : 1)) % count;
  replace_before_cursor(menu_->begin, menu_->texts[menu_->at]);
  menu_->line = readline_text();
  menu_->cursor = rl_point;
  return true;
}

bool LineEditor::still_awaited() const {
  return awaited_ && active_ && !suspended_ && !readline_is_busy() &&
         rl_point == awaited_->cursor && readline_text() == awaited_->line;
}

void LineEditor::completion_is_slow() {
  if (!still_awaited() || awaited_->slow) return;
  awaited_->slow = true;
  if (awaited_->enter) drop_enter();
  paint();
}

void LineEditor::completion_came() {
  if (!still_awaited()) {
    awaited_.reset();
    return;
  }
  const bool enter = awaited_->enter;
  const bool one = complete(true) == 1;
  if (enter && one) {
    input_.put_back('\n');
  } else if (enter) {
    drop_enter();
  }
  paint();
}

/// Keys typed ahead assumed that the line would run.
void LineEditor::drop_enter() {
  if (awaited_) awaited_->enter = false;
  input_.drop_ahead();
  tcflush(options_.in, TCIFLUSH);
  rl_ding();
}

bool KeyInput::ready(std::chrono::microseconds wait) {
  if (!ahead_.empty()) return true;
  if (budget_ == 0 || ended_) return false;
  return known_ > 0 || poll_terminal(wait);
}

bool KeyInput::poll_terminal(std::chrono::microseconds wait) {
  pollfd terminal{fd_, POLLIN, 0};
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(wait);
  if (poll(&terminal, 1, static_cast<int>(milliseconds.count())) <= 0) return false;
  int bytes = 0;
  if (ioctl(fd_, FIONREAD, &bytes) == 0 && bytes > 0) {
    known_ = static_cast<std::size_t>(bytes);
    return true;
  }
  char byte = 0;
  if (read_bytes(&byte, 1) == 0) return false;
  ahead_.push_back(byte);
  return true;
}

/// Reads at most `most` bytes; returns how many, 0 if there are none now.
std::size_t KeyInput::read_bytes(char* bytes, std::size_t most) {
  const ssize_t count = read(fd_, bytes, most);
  if (count <= 0) {
    known_ = 0;
    ended_ = ended_ || count == 0 || (errno != EINTR && errno != EAGAIN);
    return 0;
  }
  const auto taken = static_cast<std::size_t>(count);
  known_ -= std::min(known_, taken);
  budget_ -= std::min(budget_, taken);
  return taken;
}

int KeyInput::next() {
  char byte = 0;
  if (!ahead_.empty()) {
    byte = ahead_.front();
    ahead_.pop_front();
    return static_cast<unsigned char>(byte);
  }
  if (known_ == 0 && (ended_ || !poll_terminal(patience))) return -1;
  if (!ahead_.empty()) return next();
  return read_bytes(&byte, 1) == 1 ? static_cast<unsigned char>(byte) : -1;
}

bool KeyInput::take_paste(std::string& paste) {
  std::array<char, 16384> block;  // NOLINT: filled by read
  while (ready()) {
    const std::size_t before = paste.size();
    paste.append(ahead_.begin(), ahead_.end());
    ahead_.clear();
    if (paste.size() == before) {
      const auto taken =
          read_bytes(block.data(), std::min(block.size(), std::max<std::size_t>(known_, 1)));
      if (taken == 0) return false;
      paste.append(block.data(), taken);
    }
    const std::size_t from = before - std::min(before, paste_end.size() - 1);
    const std::size_t end = paste.find(paste_end, from);
    if (end == std::string::npos) continue;
    const std::size_t after = end + paste_end.size();
    ahead_.insert(ahead_.begin(), paste.begin() + static_cast<std::ptrdiff_t>(after), paste.end());
    paste.resize(end);
    return true;
  }
  return false;
}

}  // namespace zksh
