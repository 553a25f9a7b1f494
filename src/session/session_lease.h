// SessionLease: until when no server can have expired a session, by what the leader is sure to have
// heard of it.
#pragma once

#include "base/time.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace zksh {

/// Who may hold a lock is decided by the leader alone: it expires sessions. Of a client that is
/// connected to a follower it hears in two ways only:
///
///  - It tracks a session when it takes in its creation, and again when a client resumes the
///    session at some server (the follower asks the leader, which touches the session).
///  - Every half tick it pings each follower, and the follower's answer names the sessions whose
///    requests it has taken in since its last answer. Forwarded requests touch nothing, and neither
///    do transactions. (Leader.lead, LearnerHandler.run, Learner.ping, SessionTrackerImpl of
///    ZooKeeper 3.4.13, 3.8 and 3.9; measured on 3.8.0.)
///
/// A session lives for its timeout, T, after the leader has heard of it, at least. So an answered
/// read or ping proves nothing: a follower that is cut off answers those. An answered transaction
/// proves nothing alone: the leader had agreed to it, but may have heard of the session long
/// before. Together they do. Let
///
///  - V and W be requests that were answered through agreement (a transaction that a quorum has
///    accepted), W sent after the answer to V had come, on one connection;
///  - R be a request on the same connection whose answer had come half a tick (and a margin) before
///    W was sent, and no later than half a tick before V was sent plus the `gap`, a sixth of T.
///
/// Then the leader had heard of the session at a time at which R had been sent, or later:
///
///  1. The answer to R shows that the follower had taken R in. The follower's next answer to a ping
///     names the session. Half a tick and a margin later that answer was on its way, before W: what
///     a follower sends to its leader arrives in order.
///  2. That W was agreed to shows that the leader took it in, while the session lived, and that it
///     still led: a leader that was deposed finds no quorum any more. A follower that loses its
///     leader closes its clients' connections, so one connection means one leader.
///  3. Without pauses that is all. When the leader, the follower or the way between them stood
///     still, pings were late. V bounds that: it was answered, so nothing stood still at that time,
///     and the pause is younger than V. What R is taken for is at most the `gap` newer than what
///     the leader had heard of before the pause; LockDeadlines keeps that much as a margin.
///  4. A new leader gives every session its whole timeout anew, after a quorum has left the old
///  one,
///     which is after W. A session that moves keeps what was proven of it.
///
/// The lease ends T after such an R was *sent*. The creation of a session counts at once, as R and
/// as V. Its resumption counts as an R without a distance: the leader was asked; but it may have
/// been a leader that was deposed, so W has to follow.
///
/// Times are those of BootClock; the margins allow for a server's clock that is faster by 2 %, and
/// for threads that are late by as much.
///
/// Not covered: two pauses with no time for one ping between them; observers of a follower
/// (observerMasterPort), whose clients are heard of a half tick later; where no server tells its
/// tick, a session timeout of less than two ticks (minSessionTimeout set lower by hand); servers of
/// one ensemble with different ticks, or whose clocks run faster by more.
class LeaseLogic {
 public:
  using Time = BootClock::time_point;
  using Duration = std::chrono::nanoseconds;

  /// What is kept of a request until its answer comes.
  struct Sent {
    Time at;
    bool by_agreement = false;
    std::optional<Time> agreed_before{};  ///< when the V of this request was sent
  };

  /// A server has accepted the session, which was asked for at `sent`. What is known of requests on
  /// another connection counts no more; the lease does.
  void begin(Time sent, bool created, Duration timeout);
  /// A request is sent.
  Sent send(Time now, bool by_agreement) const;
  /// Its answer has come. `agreed`: it says that it was done.
  void answer(const Sent& request, Time now, bool agreed);
  /// How long the servers' tick is, as one of them says; all of an ensemble have the same.
  void learn_tick(Duration tick) { half_tick_ = tick / 2; }
  /// The session lives until then at least; the clock's beginning while nothing is known.
  Time end() const { return end_; }

 private:
  /// From a request to the answer to a ping that names its session, at most. Until the tick is
  /// known: no session is granted less than two ticks, if nobody has configured that, so half a
  /// tick is a quarter of it at most.
  Duration delay() const { return half_tick_.value_or(timeout_ / 4) + timeout_ / 40; }
  void extend(Time heard);

  struct Answered {
    Time at;
    Time sent;
  };

  Duration timeout_{};
  std::optional<Duration> half_tick_{};
  Time end_{};
  std::optional<Time> resumed_;      ///< when the session was asked for again
  std::optional<Time> agreed_;       ///< when the newest request that was agreed to was sent
  std::deque<Answered> answered_{};  ///< on this connection, the oldest first, not too close
};

/// The same, for the thread of a connection and for those who ask.
class SessionLease {
 public:
  using Time = LeaseLogic::Time;

  void begin(Time sent, bool created, LeaseLogic::Duration timeout);
  LeaseLogic::Sent send(bool by_agreement) const;
  void answer(const LeaseLogic::Sent& request, bool agreed);
  void learn_tick(LeaseLogic::Duration tick);
  Time end() const;

 private:
  mutable std::mutex mutex_;
  LeaseLogic logic_;
};

/// The lease of the session with this id, the same for all who ask while one of them has it.
std::shared_ptr<SessionLease> lease_of(std::int64_t session);

/// It lives as long as somebody has it. From any thread.
template <class T>
class PerSession {
 public:
  std::shared_ptr<T> of(std::int64_t session) {
    const std::lock_guard lock(mutex_);
    auto& known = all_[session];
    auto one = known.lock();
    if (one) return one;
    std::erase_if(
        all_, [&](const auto& entry) { return entry.second.expired() && entry.first != session; });
    one = std::make_shared<T>();
    all_[session] = one;
    return one;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::int64_t, std::weak_ptr<T>> all_;
};

}  // namespace zksh
