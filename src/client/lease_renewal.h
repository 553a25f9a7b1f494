// LeaseRenewal: decides what a contender or a holder of a lock sends to extend its session's lease.
#pragma once

#include "base/time.h"

#include <chrono>

namespace zksh {

/// A decision maker: it is given the time and what was sent, and does nothing itself. Used by one
/// thread. session_lease.h describes what the requests prove, and how much lease they leave.
///
/// With T for the session timeout: who waits in a queue sends a read each T/12, and no
/// transactions, so that the checks after its turn prove something recent; any other session does
/// so while it is idle. Who is about to hold the lock sends two checks, each after the answer to
/// the one before, and then one each T/24 until the lease suffices. Who holds it sends a check each
/// T/12, and a read halfway between two of them.
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

  /// After this time without an answer to a check, zksh leaves the server.
  static constexpr Duration longest_answer(Duration timeout) { return timeout / 16; }
  /// The time between two checks of a holder.
  static constexpr Duration interval(Duration timeout) { return timeout / 12; }

  /// The stage begins at `now`, with nothing sent.
  LeaseRenewal(Duration timeout, Stage stage, Time now)
      : timeout_(timeout), stage_(stage), read_(now), check_(now) {}

  /// What to send now.
  Request due(Time now) const {
    if (now < next()) return Request::None;
    if (stage_ == Stage::Waiting) return Request::Read;
    return stage_ == Stage::Acquiring || now >= check_ + interval(timeout_) ? Request::Check
                                                                            : Request::Read;
  }
  /// When something is due even if nothing happens. While the stage is Acquiring, a check is also
  /// due only once the previous one was answered.
  Time next() const {
    switch (stage_) {
      case Stage::Waiting:
        return read_ + interval(timeout_);
      case Stage::Acquiring:
        return checks_ < 2 ? check_ : check_ + interval(timeout_) / 2;
      case Stage::Holding:
        break;
    }
    const auto half = interval(timeout_) / 2;
    return read_ < check_ + half ? check_ + half : check_ + interval(timeout_);
  }
  void sent(Request request, Time now) {
    if (request == Request::Read) read_ = now;
    if (request != Request::Check) return;
    check_ = now;
    ++checks_;
  }

 private:
  Duration timeout_;
  Stage stage_;
  Time read_;
  Time check_;
  int checks_ = 0;
};

}  // namespace zksh
