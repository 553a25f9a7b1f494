// Readline bridge: connects LineEditor to readline's global state and C callbacks.
#pragma once

#include "term/line_editor.h"

// readline.h requires <cstdio> to be included first.
#include <readline/history.h>
#include <readline/readline.h>

#include <cstdio>
#include <string_view>

namespace zksh {

/// Readline's callbacks have no context argument, so there is one current editor.
struct LineEditor::Bridge {
  static LineEditor* current;

  static int next_byte(FILE* file);
  static int input_available();
  static void redisplay() {}
  static void accept(char* line);
  static int begin_paste(int count, int key);
  static int clear_screen(int count, int key);
  static int redraw(int count, int key);
  static int accept_line(int count, int key);
  static int previous_line(int count, int key);
  static int next_line(int count, int key);
  static int complete(int count, int key);
  static int complete_backward(int count, int key);
  static int forward_character(int count, int key);
  static int forward_word(int count, int key);
  static int end_of_line(int count, int key);
};

/// The text being typed; valid until readline is called again.
std::string_view readline_text();
bool readline_variable_is_on(const char* name);

}  // namespace zksh
