// SessionLease: evaluates answered requests.
#include "session/session_lease.h"

#include <algorithm>

namespace zksh {

void SessionLease::begin(Time sent, bool created, Duration timeout) {
  const std::lock_guard lock(mutex_);
  timeout_ = timeout;
  answered_.clear();
  agreed_.reset();
  resumed_.reset();
  if (!created) {
    resumed_ = sent;
    return;
  }
  agreed_ = sent;
  extend(sent);
}

SessionLease::Sent SessionLease::send(Time now, bool by_agreement) const {
  const std::lock_guard lock(mutex_);
  return {.at = now, .by_agreement = by_agreement, .agreed_before = agreed_};
}

void SessionLease::answer(const Sent& request, Time now, bool agreed) {
  const std::lock_guard lock(mutex_);
  if (request.by_agreement && agreed) {
    if (resumed_) extend(*resumed_);
    if (request.agreed_before) {
      const auto gap = timeout_ / 6;
      const auto latest = std::min(request.at, *request.agreed_before + gap) - delay();
      std::optional<Time> heard;
      while (!answered_.empty() && answered_.front().at <= latest) {
        heard = std::max(heard.value_or(Time()), answered_.front().sent);
        answered_.pop_front();
      }
      if (heard) extend(*heard);
    }
    agreed_ = request.at;
  }
  // A few per timeout are enough, however many requests there are.
  if (answered_.empty() || now - answered_.back().at >= timeout_ / 64)
    answered_.push_back({.at = now, .sent = request.at});
  constexpr std::size_t four_timeouts = 256;
  if (answered_.size() > four_timeouts) answered_.pop_front();
}

void SessionLease::learn_tick(Duration tick) {
  const std::lock_guard lock(mutex_);
  half_tick_ = tick / 2;
}

SessionLease::Time SessionLease::end() const {
  const std::lock_guard lock(mutex_);
  return end_;
}

void SessionLease::extend(Time heard) { end_ = std::max(end_, heard + timeout_ - timeout_ / 50); }

}  // namespace zksh
