// SessionLease: evaluates answered requests.
#include "session/session_lease.h"

#include "client/lease_renewal.h"

#include <algorithm>

namespace zksh {

void SessionLease::begin(Time sent, bool created, Duration timeout) {
  const std::lock_guard lock(mutex_);
  auto& known = known_;
  const bool less = known.timeout == Duration() || timeout < known.timeout;
  if (less) known.timeout = timeout;
  known.last_sent = sent;
  known.answered.clear();
  known.heard.reset();
  known.resumed.reset();
  if (created) {
    known.heard = sent;
    known.extend(sent);
  } else {
    known.resumed = sent;
    if (less) known.end = std::min(known.end, sent + timeout - timeout / 50);
  }
}

SessionLease::Sent SessionLease::Known::send(Time now, bool by_agreement) {
  last_sent = now;
  return {.at = now, .by_agreement = by_agreement, .heard_before = heard};
}

void SessionLease::Known::answer(const Sent& request, Time now, bool agreed) {
  if (request.by_agreement && agreed) {
    if (resumed) {
      extend(*resumed);
      heard = std::max(heard.value_or(Time()), *resumed);
    }
    while (!answered.empty() && answered.front().at <= request.at - delay()) {
      heard = std::max(heard.value_or(Time()), answered.front().sent);
      answered.pop_front();
    }
    if (heard && request.heard_before)
      extend(std::min(*heard, *request.heard_before + timeout / 6));
  }
  // A few per timeout are enough, however many requests there are.
  if (answered.empty() || now - answered.back().at >= timeout / 64)
    answered.push_back({.at = now, .sent = request.at});
  constexpr std::size_t four_timeouts = 256;
  if (answered.size() > four_timeouts) answered.pop_front();
}

void SessionLease::Known::extend(Time known_to_live) {
  end = std::max(end, known_to_live + timeout - timeout / 50);
}

SessionLease::Sent SessionLease::send(Time now, bool by_agreement) {
  const std::lock_guard lock(mutex_);
  return known_.send(now, by_agreement);
}

void SessionLease::answer(const Sent& request, Time now, bool agreed) {
  const std::lock_guard lock(mutex_);
  known_.answer(request, now, agreed);
}

void SessionLease::learn_tick(Duration tick) {
  const std::lock_guard lock(mutex_);
  known_.half_tick = tick / 2;
}

SessionLease::Time SessionLease::end() const {
  const std::lock_guard lock(mutex_);
  return known_.end;
}

SessionLease::Time SessionLease::last_sent() const {
  const std::lock_guard lock(mutex_);
  return known_.last_sent;
}

SessionLease::Duration SessionLease::timeout() const {
  const std::lock_guard lock(mutex_);
  return known_.timeout;
}

bool SessionLease::lasts(Time now, Duration reserve) const {
  auto known = [&] {
    const std::lock_guard lock(mutex_);
    return known_;
  }();
  const auto timeout = known.timeout;
  // For a thread that is late.
  const auto wait = LeaseRenewal::longest_answer(timeout) + timeout / 100;
  // By then, all that counts was sent by LeaseRenewal.
  const auto steady = now + known.delay() + wait + 2 * LeaseRenewal::interval(timeout);
  LeaseRenewal renewal(timeout, LeaseRenewal::Stage::Holding, now);
  auto answered = now;  // the newest check; nothing is sent while it is awaited
  for (;;) {
    const auto time = std::max(renewal.next(), answered);
    if (time > steady) return true;
    if (time + wait > known.end - reserve) return false;
    const auto request = renewal.due(time);
    renewal.sent(request, time);
    const bool checks = request == LeaseRenewal::Request::Check;
    known.answer(known.send(time, checks), time + wait, true);
    if (checks) answered = time + wait;
  }
}

}  // namespace zksh
