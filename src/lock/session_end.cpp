// Session end: what a session takes with it when `connect` or `close` ends it.
#include "lock/session_end.h"

#include "command/confirmation.h"
#include "command/job_table.h"
#include "command/transaction.h"
#include "config/settings.h"
#include "lock/manager.h"

#include <fmt/ranges.h>

#include <chrono>

namespace zksh {

bool may_end_session(const Context& cx, bool force) {
  if (force || cx.input == Input::Pipe || cx.services.settings.drop_in) return true;
  std::vector<std::string> ends;
  if (cx.services.jobs && !cx.background)
    for (const auto& job : cx.services.jobs->all())
      ends.push_back(fmt::format("job %{} ({})", job.number, job.line));
  for (const auto& lock : cx.services.locks.locks())
    if (lock->status().is_held()) ends.push_back("the lock " + lock->name());
  if (ends.empty()) return true;
  const auto what = fmt::format("{}", fmt::join(ends, ", "));
  if (!cx.can_ask())
    throw ValueError(fmt::format("this would end {}; --force does it all the same",
                                 cx.out.shown_in_error(what)));
  return !cx.services.settings.confirm ||
         confirmed_by_user(cx, fmt::format("This ends {}. Go on?", cx.out.shown_in_error(what)));
}

void end_users_of_session(Context& cx) {
  if (const auto dropped = cx.transaction.drop()) cx.out.err_line("{}", dropped_text(*dropped));
  // Their last words come before the session ends. `connect &` is a job itself.
  if (cx.services.jobs && !cx.background)
    cx.services.jobs->end_all(Clock::now() + std::chrono::seconds(2), cx.stop);
  cx.services.locks.end_programs(cx.stop);
}

}  // namespace zksh
