// Readline bridge: sets up readline and its callbacks.
#include "term/readline_bridge.h"

#include "term/terminal.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <unistd.h>

namespace zksh {
namespace {

constexpr int remembered_lines = 10'000;

/// Binds the keys of `replaced` to `function`, in every keymap.
void take_over(rl_command_func_t* replaced, rl_command_func_t* function) {
  for (const char* name : {"emacs", "vi-insert", "vi-command"}) {
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

/// Moves from within a character to its beginning.
int to_character() {
  while (rl_point > 0 && (static_cast<unsigned char>(rl_line_buffer[rl_point]) & 0xC0U) == 0x80U)
    --rl_point;
  return 0;
}

}  // namespace

LineEditor* LineEditor::Bridge::current = nullptr;

std::string_view readline_text() {
  return rl_line_buffer == nullptr
             ? std::string_view()
             : std::string_view(rl_line_buffer, static_cast<std::size_t>(rl_end));
}

bool readline_variable_is_on(const char* name) {
  const char* value = rl_variable_value(name);
  return value != nullptr && std::string_view(value) == "on";
}

int LineEditor::Bridge::next_byte(FILE* /*file*/) { return current->input_.next(); }

int LineEditor::Bridge::input_available() {
  const int microseconds = rl_set_keyboard_input_timeout(0);
  rl_set_keyboard_input_timeout(microseconds);
  return current->input_.ready(std::chrono::microseconds(microseconds)) ? 1 : 0;
}

void LineEditor::Bridge::accept(char* line) {
  current->accepted_.push_back(line == nullptr ? std::nullopt : std::optional<std::string>(line));
  std::free(line);
}

int LineEditor::Bridge::begin_paste(int /*count*/, int /*key*/) {
  current->pasting_ = true;
  return 0;
}

int LineEditor::Bridge::clear_screen(int /*count*/, int /*key*/) {
  current->painter_.clear_screen();
  return 0;
}

int LineEditor::Bridge::redraw(int /*count*/, int /*key*/) {
  current->painter_.erase();
  return 0;
}

int LineEditor::Bridge::complete(int /*count*/, int /*key*/) {
  if (!current->walk_menu(false)) current->complete(false);
  return 0;
}

int LineEditor::Bridge::complete_backward(int /*count*/, int /*key*/) {
  if (!current->walk_menu(true)) current->complete(false);
  return 0;
}

int LineEditor::Bridge::accept_line(int count, int key) {
  if (current->hold_enter() || current->continue_text()) return 0;
  return rl_newline(count, key);
}

/// Moves to the line above, in a text of several lines, or else through the history.
int LineEditor::Bridge::previous_line(int count, int key) {
  const auto text = readline_text();
  const auto cursor = static_cast<std::size_t>(rl_point);
  const auto begin = line_begin(text, cursor);
  if (begin == 0) return rl_get_previous_history(count, key);
  const auto above = line_begin(text, begin - 1);
  rl_point = static_cast<int>(std::min(above + cursor - begin, begin - 1));
  return to_character();
}

int LineEditor::Bridge::next_line(int count, int key) {
  const auto text = readline_text();
  const auto cursor = static_cast<std::size_t>(rl_point);
  const auto end = text.find('\n', cursor);
  if (end == std::string_view::npos) return rl_get_next_history(count, key);
  const auto below_end = std::min(text.find('\n', end + 1), text.size());
  rl_point = static_cast<int>(std::min(end + 1 + cursor - line_begin(text, cursor), below_end));
  return to_character();
}

int LineEditor::Bridge::forward_character(int count, int key) {
  return current->take_hint(false) ? 0 : rl_forward_char(count, key);
}

int LineEditor::Bridge::forward_word(int count, int key) {
  return current->take_hint(true) ? 0 : rl_forward_word(count, key);
}

int LineEditor::Bridge::end_of_line(int count, int key) {
  return current->take_hint(false) ? 0 : rl_end_of_line(count, key);
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
  rl_initialize();
  rl_redisplay_function = Bridge::redisplay;  // if set earlier, it would disable bracketed paste
  // By default Ctrl-J ends a search and keeps the line; here Enter sends the same (see
  // prepare_terminal).
  const char* terminators = rl_variable_value("isearch-terminators");
  if (terminators == nullptr || *terminators == '\0')
    rl_variable_bind("isearch-terminators", "\\e");
  // The bell goes to stderr, which may be a file.
  if (!is_terminal(STDERR_FILENO)) rl_variable_bind("bell-style", "none");
  bracketed_paste_ = !dumb_ && readline_variable_is_on("enable-bracketed-paste");
  bind_keys();
  stifle_history(remembered_lines);
}

void LineEditor::bind_keys() {
  take_over(rl_clear_screen, Bridge::clear_screen);
  take_over(rl_clear_display, Bridge::clear_screen);
  take_over(rl_refresh_line, Bridge::redraw);
  // Readline's own functions would wait for candidates, and sort and compare all of them.
  for (auto* const completes : {rl_complete, rl_possible_completions, rl_insert_completions,
                                rl_menu_complete, rl_old_menu_complete})
    take_over(completes, Bridge::complete);
  take_over(rl_backward_menu_complete, Bridge::complete_backward);
  take_over(rl_vi_complete, Bridge::complete);
  take_over(rl_newline, Bridge::accept_line);
  take_over(rl_get_previous_history, Bridge::previous_line);
  take_over(rl_get_next_history, Bridge::next_line);
  take_over(rl_forward_char, Bridge::forward_character);
  take_over(rl_forward_word, Bridge::forward_word);
  take_over(rl_end_of_line, Bridge::end_of_line);
  for (const char* map : {"emacs", "vi-insert", "vi-command"}) {
    rl_bind_keyseq_in_map("\\e[200~", Bridge::begin_paste, rl_get_keymap_by_name(map));
    rl_bind_keyseq_in_map("\\e[Z", Bridge::complete_backward, rl_get_keymap_by_name(map));
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

}  // namespace zksh
