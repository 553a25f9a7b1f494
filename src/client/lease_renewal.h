// LeaseRenewal: decides what a contender or a holder of a lock sends to extend its session's lease.
#pragma once

#include "base/time.h"

#include <algorithm>
#include <chrono>

namespace zksh {

/// A decision maker: it is given the time and what was sent, and does nothing itself. Used by one
/// thread. session_lease.h describes what the requests prove, and how much lease they leave.
///
/// With T for the session timeout: a contender that waits in a queue sends a read every T/12, and
/// no transactions, so that the checks after its turn prove something recent; any other session
/// does so while it is idle. A contender that is about to hold the lock sends two checks, the
/// second after the answer to the first or T/24 after it, and then one every T/24 until the lease
/// suffices. A holder sends a check every T/12, the first after half of that, and a read halfway
/// between two of them. None of these waits for the previous answer: servers may be far away.
class LeaseRenewal {
 public:
  using Time = BootClock::time_point;
  using Duration = BootClock::duration;

  enum class Stage { Waiting, Acquiring, Holding };
  enum class Request {
    None,
    Read,
    Check,  ///< a transaction that checks the lock's nodes, and changes nothing
  };

  /// While no answer takes longer than this, a program under a lock keeps running. `round_trip` is
  /// the shortest time in which the server has answered.
  static constexpr Duration longest_answer(Duration timeout, Duration round_trip) {
    return std::max(timeout / 16, round_trip + timeout / 50);
  }
  /// zksh leaves a server that owes the answer to a check when nothing has been answered for this
  /// time since that answer should have come.
  static constexpr Duration longest_silence(Duration timeout) { return timeout / 16; }
  /// The least session timeout with which a lock can be held at this distance; `share` is the
  /// reserve's share of the timeout. session_lease.h derives it.
  static Duration least_timeout(Duration round_trip, double share) {
    constexpr double budget = 0.565;
    return std::chrono::ceil<Duration>(3 * round_trip / (budget - share));
  }
  /// The time between two checks of a holder.
  static constexpr Duration interval(Duration timeout) { return timeout / 12; }

  /// The stage begins at `now`, with nothing sent.
  LeaseRenewal(Duration timeout, Stage stage, Time now)
      : timeout_(timeout),
        stage_(stage),
        read_(now),
        check_(stage == Stage::Holding ? now - interval(timeout) / 2 : now) {}

  /// What to send now.
  Request due(Time now) const {
    if (now < next()) return Request::None;
    if (stage_ == Stage::Waiting) return Request::Read;
    return stage_ == Stage::Acquiring || now >= check_ + interval(timeout_) ? Request::Check
                                                                            : Request::Read;
  }
  /// When something is due.
  Time next() const {
    if (stage_ == Stage::Waiting) return read_ + interval(timeout_);
    const auto half = interval(timeout_) / 2;
    if (stage_ == Stage::Acquiring)
      return checks_ == 0 || (checks_ == 1 && answered_) ? check_ : check_ + half;
    return read_ < check_ + half ? check_ + half : check_ + interval(timeout_);
  }
  void sent(Request request, Time now) {
    if (request == Request::Read) read_ = now;
    if (request != Request::Check) return;
    check_ = now;
    ++checks_;
  }
  /// The first check was answered.
  void answered() { answered_ = true; }

 private:
  Duration timeout_;
  Stage stage_;
  Time read_;
  Time check_;
  int checks_ = 0;
  bool answered_ = false;
};

}  // namespace zksh
