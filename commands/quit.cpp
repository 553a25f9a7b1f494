// quit: end the session and leave the shell.
#include "client/client.h"
#include "command/command.h"
#include "command/zkcli_style.h"
#include "config/settings.h"
#include "lock/manager.h"

namespace zksh::command_quit {
namespace {

int run(Context& cx) {
  if (prints_as_34(cx)) cx.out.line("Quitting...");
  // zkCli ends its session here, and prints the events of its ephemerals. Locks are released first.
  const bool as_zkcli = cx.input == Input::Pipe && cx.services.locks.locks().empty();
  if (cx.services.settings.drop_in || as_zkcli) cx.client.close();
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
