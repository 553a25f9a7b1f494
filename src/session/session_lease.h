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
///    before W was sent, and H one whose answer had arrived as long before V was sent.
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
///     and the pause began after V; the leader has heard of H. So R counts as sent a sixth of T
///     after H at most, and ProgramDeadlines keeps that much as a margin.
///     A pause that ended before V hides nothing: bytes arrive in order, so the leader's pings of
///     that time come before the agreement to V, and their answers before W.
///  4. A new leader restarts the whole timeout of every session, after a quorum has left the old
///     leader, which is after W. A session that moves keeps what was proven about it.
///
/// The lease ends T after such an R was *sent*. The creation of a session counts at once, as R and
/// as V. Its resumption counts as an R at no distance, since the leader was asked; but that may
/// have been a deposed leader, so a W must follow.
///
/// T is the least timeout that any server has granted to the session. Members may differ in
/// minSessionTimeout and maxSessionTimeout; the leader then uses what the last of them granted, and
/// that member's answer may be lost. So once a server grants less, the lease ends at most that
/// much after the request to resume the session, which may be *earlier* than before.
///
/// None of this depends on how long answers take, or on whether others are under way meanwhile: V
/// and H count for W only if they were answered before V and W were sent. Servers far away make a
/// lease shorter, since what is proven was sent earlier, and never wrong.
///
/// How much lease is left. Let `delay` be half a tick and a margin (0.275 T if the tick is not
/// known), a the longest time to an answer, q the longest time between two requests, and p that
/// between two checks. The newest R that counts for a check W sent at t was answered by t - delay,
/// so it was sent at t - delay - q - a or later. Its V was sent at t - a - p or later, and H at
/// t - a - p - delay - q - a: if a + p is more than a sixth of T, R counts as so much older. Then
/// the lease ends 0.98 T later. When the next check is answered, at t + p + a, what is left is
///
///     0.98 T - delay - q - p - 2a - max(0, a + p - T/6)
///
/// With the requests of LeaseRenewal (q = T/24 and p = T/12 while a lock is held, none of which
/// waits for another's answer) and answers within T/16, that is 0.45 T. ProgramDeadlines needs 0.33
/// T, or 0.375 T with the longest grace period. Therefore *a program starts only when no deadline
/// can come as long as every request is answered within LeaseRenewal::longest_answer*: T/16, or at
/// a distance, the round trip r and T/50. The latter, with T/100 for threads that are late and as
/// much for requests that are, leaves 0.565 T - 3r of the lease: hence LeaseRenewal::least_timeout.
///
/// What is left of a lease does not tell all that: right after a wait, or for a session that has
/// only sent a ping now and then, the next checks may prove nothing new. So `lasts` simulates the
/// next checks, with the requests that were really sent.
///
/// Times are those of BootClock. The margins allow for a server's clock that is 2 % faster, and for
/// threads that are late by as much.
///
/// Not covered: two pauses without time for a ping between them; a leader that was itself paused
/// for most of T, and agrees to V and W before it sends the ping that is overdue; observers of a
/// follower (observerMasterPort), about whose clients the leader hears half a tick later; if no
/// server reports its tick, a session timeout of less than two ticks (minSessionTimeout configured
/// lower); servers of one ensemble with different ticks; a server that grants less than any that
/// the session has met before, if its answer is lost; server clocks that are even faster.
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
    std::optional<Time> heard_before{};  ///< when the H for this request was sent
  };

  /// A server has accepted the session, which was requested at `sent`, and granted this timeout.
  /// Forgets the requests of previous connections, but not the lease, unless that is too long for
  /// the timeout.
  void begin(Time sent, bool created, Duration timeout);
  /// A request is sent.
  Sent send(Time now, bool by_agreement);
  /// Its answer has arrived. `agreed`: it says that the request was done.
  void answer(const Sent& request, Time now, bool agreed);
  /// Sets the tick of the ensemble, as one of its servers reported it.
  void learn_tick(Duration tick);
  /// The session lives at least until then; the clock's epoch if nothing is known.
  Time end() const { return of_known(&Known::end); }
  /// When the newest request, or the session's, was sent.
  Time last_sent() const { return of_known(&Known::last_sent); }
  /// The least timeout that was granted.
  Duration timeout() const { return of_known(&Known::timeout); }
  /// Whether at least `reserve` of the lease will always be left, if from now on a holder's
  /// requests are sent (LeaseRenewal), and each is answered within longest_answer at this distance.
  /// Do not ask for more than LeaseRenewal::least_timeout allows.
  bool lasts(Time now, Duration reserve, Duration round_trip) const;

 private:
  struct Answered {
    Time at;
    Time sent;
  };
  /// All that is known; copied to simulate the future.
  struct Known {
    Duration timeout{};
    std::optional<Duration> half_tick{};
    Time end{};
    Time last_sent{};
    std::optional<Time> resumed{};    ///< when the session's resumption was requested
    std::optional<Time> heard{};      ///< when the H for the next request with agreement was sent
    std::deque<Answered> answered{};  ///< on this connection, oldest first, thinned out
    std::deque<Sent> under_way{};     ///< not answered yet, likewise

    /// The longest time from a request to the answer to a ping that names its session. Unless
    /// configured otherwise, session timeouts are at least two ticks, so half a tick is at most a
    /// quarter of it.
    Duration delay() const { return half_tick.value_or(timeout / 4) + timeout / 40; }
    /// A few per timeout are enough, however many requests there are.
    Duration grain() const { return timeout / 64; }
    void extend(Time known_to_live);
    Sent send(Time now, bool by_agreement);
    void answer(const Sent& request, Time now, bool agreed);
  };

  template <class T>
  T of_known(T Known::*part) const {
    const std::lock_guard lock(mutex_);
    return known_.*part;
  }

  mutable std::mutex mutex_;
  Known known_;
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
