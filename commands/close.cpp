// close: end the session.
#include "command/command.h"
#include "command/transaction.h"
#include "lock/lock_manager.h"

#include <chrono>

namespace zksh::command_close {
namespace {

int run(Context& cx) {
  if (const auto dropped = cx.transaction.drop()) cx.out.err_line("{}", dropped_text(*dropped));
  cx.services.locks.end_programs(cx.stop);
  cx.client.close();
  // The end of each lock is reported, and recorded for `locks`, before the next command runs.
  const auto deadline = Clock::now() + std::chrono::seconds(1);
  for (const auto& lock : cx.services.locks.locks())
    cx.services.locks.await_gone(*lock, deadline, cx.stop);
  return status::ok;
}

}  // namespace

extern const Command close_command = make_command(
    {.name = "close",
     .group = "Session",
     .summary = "Close the session",
     .keywords = {"disconnect", "session"},
     .details = "The servers remove the session's ephemeral nodes at once. Its locks are lost: "
                "programs that run under them are ended first, and `locks` shows them as lost "
                "until `unlock`. The shell keeps running; `connect` opens a new session.",
     .examples = {{"close", "End the session."}},
     .zkcli_syntax = "",
     .optionless = true,
     .allowed_in_transaction = true},
    run);
}  // namespace zksh::command_close
