// ProgramDeadlines: decides when a program under a lock is terminated and killed.
#include "lock/deadlines.h"

#include <algorithm>

namespace zksh {

namespace {

using namespace std::chrono_literals;
constexpr auto never = BootClock::time_point::max();

}  // namespace

ProgramDeadlines::ProgramDeadlines(OnLost on_lost, std::chrono::milliseconds session_timeout,
                                   std::optional<std::chrono::milliseconds> grace)
    : on_lost_(on_lost), wanted_grace_(grace) {
  set_timeout(session_timeout);
}

void ProgramDeadlines::set_timeout(std::chrono::milliseconds session_timeout) {
  timeout_ = session_timeout;
  const auto usual = std::min<std::chrono::milliseconds>(5s, timeout_ / 8);
  grace_ = std::min(wanted_grace_.value_or(usual), timeout_ / 6);
}

std::chrono::milliseconds ProgramDeadlines::reserve() const {
  if (on_lost_ == OnLost::Warn) return 0ms;
  return on_lost_ == OnLost::Kill ? margin() : margin() + grace_;
}

void ProgramDeadlines::lose(BootClock::time_point now) {
  if (!lost_) lost_ = now;
}

void ProgramDeadlines::ask(BootClock::time_point now) {
  if (!asked_) asked_ = now;
}

BootClock::time_point ProgramDeadlines::terminate_time(BootClock::time_point safe_until) const {
  auto time = asked_.value_or(never);
  if (on_lost_ == OnLost::Terminate)
    time = std::min({time, lost_.value_or(never), safe_until - margin() - grace_});
  return time;
}

BootClock::time_point ProgramDeadlines::kill_time(BootClock::time_point safe_until) const {
  auto time = never;
  if (on_lost_ != OnLost::Warn) time = safe_until - margin();
  if (on_lost_ == OnLost::Kill) time = std::min(time, lost_.value_or(never));
  const bool for_good = asked_ || (lost_ && on_lost_ == OnLost::Terminate);
  if (terminated_ && for_good) time = std::min(time, *terminated_ + grace_);
  return time;
}

ProgramDeadlines::Step ProgramDeadlines::step(BootClock::time_point now,
                                              BootClock::time_point safe_until) {
  if (killed_) return Step::None;
  if (now >= kill_time(safe_until)) {
    killed_ = true;
    return Step::Kill;
  }
  const bool due = now >= terminate_time(safe_until);
  if (due == terminated_.has_value()) return Step::None;
  if (!due) {
    terminated_.reset();
    return Step::Spare;
  }
  terminated_ = now;
  return Step::Terminate;
}

BootClock::time_point ProgramDeadlines::next(BootClock::time_point safe_until) const {
  if (killed_) return never;
  return terminated_ ? kill_time(safe_until)
                     : std::min(terminate_time(safe_until), kill_time(safe_until));
}

}  // namespace zksh
