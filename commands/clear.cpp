// clear: clear the screen.
#include "command/command.h"

namespace zksh::command_clear {
namespace {

int run(Context& cx) {
  // Cursor home, clear the screen, clear the scrollback.
  if (cx.out.style().out_is_terminal) cx.out.out("\033[H\033[2J\033[3J");
  return status::ok;
}

}  // namespace

extern const Command clear_command =
    make_command({.name = "clear",
                  .group = "Shell",
                  .summary = "Clear the screen",
                  .keywords = {"cls"},
                  .details = "Also clears the terminal's scrollback; Ctrl-L keeps it. Does "
                             "nothing if the output is not a terminal.",
                  .examples = {{"clear", "Clear the screen and the scrollback."}},
                  .needs = Needs::Nothing,
                  .allowed_in_transaction = true},
                 run);
}  // namespace zksh::command_clear
