// quit: end the session and leave the shell.
#include "client/client.h"
#include "command/command.h"
#include "command/zkcli_style.h"
#include "config/settings.h"

namespace zksh::command_quit {
namespace {

int run(Context& cx) {
  if (prints_as_34(cx)) cx.out.line("Quitting...");
  if (cx.services.settings.drop_in) cx.client.close();  // zkCli ends its session here alone
  cx.quit = true;
  return status::ok;
}

}  // namespace

extern const Command quit_command = make_command(
    {.name = "quit",
     .aliases = {"exit"},
     .group = "Shell",
     .summary = "Close the session and leave the shell",
     .keywords = {"exit", "leave", "\\q", "q", "bye", "logout"},
     .details = "The servers remove the session's ephemeral nodes at once. The exit status is that "
                "of the last command; in a script, that of the first failure.",
     .examples = {{"quit", "Leave."}},
     .zkcli_syntax = "",
     .needs = Needs::Nothing,
     .optionless = true,
     .allowed_in_transaction = true},
    run);
}  // namespace zksh::command_quit
