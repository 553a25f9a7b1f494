// close: end the session.
#include "client/client.h"
#include "command/command.h"
#include "lock/manager.h"

#include <chrono>

namespace zksh::command_close {
namespace {

struct Args {
  bool force = false;
};

void declare(Options& o, Args& a) {
  o.flag("-f,--force", a.force, "End locks and jobs without asking.");
}

int run(Context& cx, const Args& a) {
  if (!may_end_session(cx, a.force)) return status::failure;
  end_work_of_session(cx);
  cx.client.close();
  // The end of each lock is reported, and recorded for `locks`, before the next command runs.
  const auto deadline = Clock::now() + std::chrono::seconds(1);
  for (const auto& lock : cx.services.locks.locks())
    cx.services.locks.await_gone(*lock, deadline, cx.stop);
  return status::ok;
}

}  // namespace

extern const Command close_command = make_command<Args>(
    {.name = "close",
     .group = "Session",
     .summary = "Close the session",
     .keywords = {"disconnect", "session"},
     .details = "The servers remove the session's ephemeral nodes at once. Its locks are lost: "
                "jobs and programs that run under them are ended first (at a terminal it asks, and "
                "a script needs --force if it holds locks), and `locks` shows them as lost "
                "until `unlock`. The shell keeps running; `connect` opens a new session.",
     .examples = {{"close", "End the session."}},
     .zkcli_syntax = "",
     .optionless = true,
     .allowed_in_transaction = true},
    declare, run);
}  // namespace zksh::command_close
