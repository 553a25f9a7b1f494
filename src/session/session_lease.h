// SessionLease: the time until which no server can have expired a session.
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

/// The leader alone decides who may hold a lock: it expires sessions. Of a client that is connected
/// to a follower, it hears in two ways only:
///
///  - It tracks a session when it processes the session's creation, and again when a client resumes
///    the session at any server (the follower asks the leader, which touches the session).
///  - Every half tick it pings each follower, and the follower's answer names the sessions whose
///    requests it has received since its last answer. Forwarded requests do not touch a session,
///    and neither do transactions. (Leader.lead, LearnerHandler.run, Learner.ping,
///    SessionTrackerImpl of ZooKeeper 3.4.13, 3.8 and 3.9; measured with 3.8.0.)
///
/// After the leader has heard of a session, the session lives at least for its timeout T. So an
/// answered read or ping proves nothing: a follower that is cut off answers those. An answered
/// transaction alone proves nothing either: the leader took part in it, but may have heard of the
/// session long before. Together they do. Let
///
///  - V and W be requests answered through agreement (transactions accepted by a quorum) on one
///    connection, where W was sent after the answer to V had arrived;
///  - R be a request on the same connection whose answer had arrived half a tick and a margin
///    before the earlier of two times: when W was sent, and `gap`, a sixth of T, after V was sent.
///
/// Then the leader has heard of the session at or after the time at which R was sent:
///
///  1. The answer to R shows that the follower had received R. The follower's next answer to a ping
///     names the session. Half a tick and a margin later that answer was on its way, before W: what
///     a follower sends to its leader arrives in order.
///  2. The agreement to W shows that the leader received W while the session lived, and that it
///     still led: a deposed leader gets no quorum. A follower that loses its leader closes its
///     clients' connections, so one connection means one leader.
///  3. Without pauses that is all. If the leader, the follower or the path between them paused,
///     pings were late. V bounds the delay: it was answered, so nothing was paused at that time,
///     and the pause began after V. So R is at most `gap` newer than what the leader had heard of
///     before the pause; LockDeadlines keeps that much as a margin.
///  4. A new leader restarts the whole timeout of every session, after a quorum has left the old
///     leader, which is after W. A session that moves keeps what was proven about it.
///
/// The lease ends T after such an R was *sent*. The creation of a session counts at once, as R and
/// as V. Its resumption counts as an R at no distance, since the leader was asked; but that may
/// have been a deposed leader, so a W must follow.
///
/// Times are those of BootClock. The margins allow for a server's clock that is 2 % faster, and for
/// threads that are late by as much.
///
/// Not covered: two pauses without time for a ping between them; observers of a follower
/// (observerMasterPort), of whose clients the leader hears half a tick later; if no server reports
/// its tick, a session timeout of less than two ticks (minSessionTimeout configured lower); servers
/// of one ensemble with different ticks; server clocks that are even faster.
///
/// Members may be called from any thread; `now` is the present time.
class SessionLease {
 public:
  using Time = BootClock::time_point;
  using Duration = std::chrono::nanoseconds;

  /// What is remembered about a request until its answer arrives.
  struct Sent {
    Time at;
    bool by_agreement = false;
    std::optional<Time> agreed_before{};  ///< when the V for this request was sent
  };

  /// A server has accepted the session, which was requested at `sent`. Forgets the requests of
  /// previous connections, but not the lease.
  void begin(Time sent, bool created, Duration timeout);
  /// A request is sent.
  Sent send(Time now, bool by_agreement) const;
  /// Its answer has arrived. `agreed`: it says that the request was done.
  void answer(const Sent& request, Time now, bool agreed);
  /// Sets the tick of the ensemble, as one of its servers reported it.
  void learn_tick(Duration tick);
  /// The session lives at least until then; the clock's epoch if nothing is known.
  Time end() const;

 private:
  /// The longest time from a request to the answer to a ping that names its session. Unless
  /// configured otherwise, session timeouts are at least two ticks, so half a tick is at most a
  /// quarter of it.
  Duration delay() const { return half_tick_.value_or(timeout_ / 4) + timeout_ / 40; }
  void extend(Time heard);

  struct Answered {
    Time at;
    Time sent;
  };

  mutable std::mutex mutex_;
  Duration timeout_{};
  std::optional<Duration> half_tick_{};
  Time end_{};
  std::optional<Time> resumed_;      ///< when the session's resumption was requested
  std::optional<Time> agreed_;       ///< when the newest request with agreement was sent
  std::deque<Answered> answered_{};  ///< on this connection, oldest first, thinned out
};

/// The T of the session with this id, shared by all callers as long as one of them keeps it. From
/// any thread.
template <class T>
std::shared_ptr<T> of_session(std::int64_t session) {
  static std::mutex mutex;
  static std::unordered_map<std::int64_t, std::weak_ptr<T>> all;
  const std::lock_guard lock(mutex);
  auto& known = all[session];
  if (auto one = known.lock()) return one;
  std::erase_if(
      all, [&](const auto& entry) { return entry.second.expired() && entry.first != session; });
  auto one = std::make_shared<T>();
  known = one;
  return one;
}

}  // namespace zksh
