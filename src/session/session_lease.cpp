// SessionLease: evaluates answered requests.
#include "session/session_lease.h"

#include "client/lease_renewal.h"

#include <algorithm>

namespace zksh {
namespace {

constexpr std::size_t four_timeouts = 256;  // in grains

}  // namespace

void SessionLease::begin(Time sent, bool created, Duration timeout) {
  const std::lock_guard lock(mutex_);
  auto& known = known_;
  const bool less = known.timeout == Duration() || timeout < known.timeout;
  if (less) known.timeout = timeout;
  known.last_sent = sent;
  known.answered.clear();
  known.under_way.clear();
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
  const Sent request{.at = now, .by_agreement = by_agreement, .heard_before = heard};
  const bool is_wanted = under_way.empty() || now - under_way.back().at >= grain() ||
                         (by_agreement && !under_way.back().by_agreement);
  if (is_wanted && under_way.size() < four_timeouts) under_way.push_back(request);
  return request;
}

void SessionLease::Known::answer(const Sent& request, Time now, bool agreed) {
  // Answers come in order.
  while (!under_way.empty() && under_way.front().at <= request.at) under_way.pop_front();
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
  if (answered.empty() || now - answered.back().at >= grain())
    answered.push_back({.at = now, .sent = request.at});
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

bool SessionLease::lasts(Time now, Duration reserve, Duration round_trip) const {
  auto known = [&] {
    const std::lock_guard lock(mutex_);
    return known_;
  }();
  const auto timeout = known.timeout;
  // For a thread that is late.
  const auto wait = LeaseRenewal::longest_answer(timeout, round_trip) + timeout / 100;
  // By then, all that counts was sent by LeaseRenewal.
  const auto steady = now + known.delay() + 3 * (wait + LeaseRenewal::interval(timeout));
  LeaseRenewal renewal(timeout, LeaseRenewal::Stage::Holding, now);
  for (;;) {
    const auto next = renewal.next();
    const auto answered =
        known.under_way.empty() ? Time::max() : std::max(known.under_way.front().at + wait, now);
    const auto time = std::min(next, answered);
    if (time > steady) return true;
    if (time > known.end - reserve) return false;
    if (time == answered) {
      known.answer(Sent(known.under_way.front()), time, true);
    } else {
      const auto request = renewal.due(time);
      renewal.sent(request, time);
      known.send(time, request == LeaseRenewal::Request::Check);
    }
  }
}

}  // namespace zksh
