// SessionLease: which requests prove that the leader has heard of a session, with a model of a
// follower and its leader, on the test's own clock.
#include "session/session_lease.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace zksh {
namespace {

using namespace std::chrono_literals;
using Time = BootClock::time_point;

Time at(BootClock::duration since_start) { return Time(1000s) + since_start; }
constexpr BootClock::duration timeout = 4s;
/// What is left of it for a server's clock that is fast.
constexpr auto lasts = timeout - timeout / 50;

/// A request that is answered after a millisecond.
void ask(SessionLease& lease, Time when, bool by_agreement) {
  lease.answer(lease.send(when, by_agreement), when + 1ms, true);
}

struct Created : SessionLease {
  explicit Created(Time when) { begin(when, true, timeout); }
};

TEST(SessionLease, nothing_is_known_before_a_session_begins) {
  EXPECT_EQ(SessionLease().end(), Time());
}

TEST(SessionLease, a_created_session_lasts_from_when_it_was_asked_for) {
  EXPECT_EQ(Created(at(0s)).end(), at(0s) + lasts);
}

TEST(SessionLease, reads_and_pings_alone_prove_nothing) {
  Created lease(at(0s));
  for (auto now = 100ms; now < 8s; now += 100ms) ask(lease, at(now), false);
  EXPECT_EQ(lease.end(), at(0s) + lasts);
}

TEST(SessionLease, a_transaction_alone_proves_nothing) {
  Created lease(at(0s));
  ask(lease, at(3s), true);
  ask(lease, at(3100ms), true);
  EXPECT_EQ(lease.end(), at(0s) + lasts) << "nothing was sent half a tick before";
}

TEST(SessionLease, a_transaction_proves_what_was_answered_half_a_tick_before) {
  Created lease(at(0s));
  ask(lease, at(1s), false);
  ask(lease, at(2s), false);
  ask(lease, at(2500ms), true);  // too long after the creation: there may have been a pause
  EXPECT_EQ(lease.end(), at(0s) + lasts);
  ask(lease, at(2600ms), true);
  EXPECT_EQ(lease.end(), at(1s) + lasts) << "the read after 2 s is not old enough";
  ask(lease, at(3200ms), true);
  EXPECT_EQ(lease.end(), at(2s) + lasts);
}

TEST(SessionLease, a_tick_that_is_known_makes_it_longer) {
  Created lease(at(0s));
  lease.learn_tick(200ms);
  for (const auto when : {1s, 2s, 3s}) ask(lease, at(when), true);
  EXPECT_EQ(lease.end(), at(2s) + lasts) << "without it, the request after 1 s would count";
  ask(lease, at(3150ms), true);
  EXPECT_EQ(lease.end(), at(2s) + lasts) << "half a tick, but no margin";
  ask(lease, at(3300ms), true);
  EXPECT_EQ(lease.end(), at(3s) + lasts);
}

TEST(SessionLease, it_is_the_answer_that_must_be_old) {
  Created lease(at(0s));
  const auto slow = lease.send(at(1s), false);
  lease.answer(slow, at(2400ms), true);
  ask(lease, at(2500ms), true);
  ask(lease, at(3s), true);
  EXPECT_EQ(lease.end(), at(0s) + lasts)
      << "the follower may have taken it in just before it answered";
  ask(lease, at(3600ms), true);
  EXPECT_EQ(lease.end(), at(1s) + lasts) << "but from then on it lasts from when it was sent";
}

TEST(SessionLease, what_is_refused_was_not_agreed_to) {
  Created lease(at(0s));
  ask(lease, at(1s), false);
  for (const auto when : {2500ms, 2600ms})
    lease.answer(lease.send(at(when), true), at(when) + 1ms, false);
  EXPECT_EQ(lease.end(), at(0s) + lasts);
}

TEST(SessionLease, two_transactions_at_once_are_one) {
  Created lease(at(0s));
  ask(lease, at(1s), false);
  const auto first = lease.send(at(2500ms), true);
  const auto second = lease.send(at(2500ms), true);
  lease.answer(first, at(3s), true);
  lease.answer(second, at(3s), true);
  EXPECT_EQ(lease.end(), at(0s) + lasts) << "both may have been held up by one pause";
}

TEST(SessionLease, a_resumed_session_counts_once_a_transaction_was_agreed_to) {
  Created lease(at(0s));
  lease.begin(at(3s), false, timeout);
  EXPECT_EQ(lease.end(), at(0s) + lasts) << "the leader may have been deposed";
  ask(lease, at(3100ms), false);
  EXPECT_EQ(lease.end(), at(0s) + lasts);
  ask(lease, at(3200ms), true);
  EXPECT_EQ(lease.end(), at(3s) + lasts);
}

TEST(SessionLease, requests_on_another_connection_do_not_count) {
  Created lease(at(0s));
  ask(lease, at(1s), true);
  ask(lease, at(1500ms), true);
  lease.begin(at(2s), false, timeout);
  ask(lease, at(2100ms), true);
  EXPECT_EQ(lease.end(), at(2s) + lasts);
  ask(lease, at(2200ms), true);
  EXPECT_EQ(lease.end(), at(2s) + lasts);
}

TEST(SessionLease, it_never_gets_shorter) {
  Created lease(at(3s));
  lease.begin(at(1s), true, timeout);
  EXPECT_EQ(lease.end(), at(3s) + lasts);
}

TEST(SessionLease, many_requests_count_as_a_few_do) {
  Created lease(at(0s));
  for (auto now = 1ms; now < 20s; now += 1ms) ask(lease, at(now), now.count() % 500 == 0);
  EXPECT_GE(lease.end(), at(18s) + lasts)
      << "proven up to 0.35 of the timeout and a transaction ago";
  EXPECT_LE(lease.end(), at(20s) - timeout / 4 + lasts);
}

/// A follower and its leader: what the client sends, when the leader hears of the session. Stalls
/// hold up all that goes through: pings, answers to them, transactions.
class Ensemble {
 public:
  /// `tells_tick`: else the session's timeout is two ticks.
  Ensemble(unsigned seed, BootClock::duration session_timeout, bool tells_tick)
      : random_(seed), timeout_(session_timeout), tells_tick_(tells_tick) {}

  /// Plays one run with one stall, after which the follower is cut off at a random time; the time
  /// by which the lease was too long, at any moment of it.
  BootClock::duration play() {
    const auto stall = random(2s, 6s);
    const auto resumed = stall + random(0s, 5s);
    const auto cut = resumed + random(0s, 300ms);
    const auto phase = random(0s, half_tick);
    auto heard = at(0s);     // by the leader
    auto taken_in = at(0s);  // by the follower
    SessionLease lease;
    lease.begin(at(0s), true, timeout_);
    if (tells_tick_) lease.learn_tick(tick);
    auto worst = BootClock::duration::min();
    std::optional<SessionLease::Sent> outstanding;
    auto next_ping = phase;
    bool ping_due = false;
    int turn = 0;
    for (auto now = BootClock::duration(1ms); now < cut; now += 1ms) {
      const bool flows = now < stall || now >= resumed;
      if (now >= next_ping) {
        next_ping += half_tick;
        ping_due = true;
      }
      // The worst order after a stall: transactions before the answer to the ping.
      if (outstanding && flows && at(now) < heard + timeout_ + tick) {
        lease.answer(*std::exchange(outstanding, std::nullopt), at(now), true);
        worst = std::max(worst, lease.end() - (heard + timeout_));
      }
      if (ping_due && (now < stall || now > resumed_grace(resumed))) {
        heard = std::max(heard, taken_in);
        ping_due = false;
      }
      if (now % interval != 0ms) continue;
      taken_in = at(now);
      if (++turn % 2 == 0)
        lease.answer(lease.send(at(now), false), at(now), true);
      else if (!outstanding)
        outstanding = lease.send(at(now), true);
    }
    return worst;
  }

  static constexpr auto tick = 2s;
  static constexpr auto half_tick = BootClock::duration(tick / 2);
  static constexpr auto interval = BootClock::duration(333ms);

 private:
  /// The answer to the first ping after a stall is on its way for a moment.
  static BootClock::duration resumed_grace(BootClock::duration resumed) { return resumed + 2ms; }
  BootClock::duration random(BootClock::duration from, BootClock::duration to) {
    std::uniform_int_distribution<std::int64_t> number(from.count(), to.count() - 1);
    return BootClock::duration(number(random_) / 1'000'000 * 1'000'000);
  }
  std::mt19937 random_;
  BootClock::duration timeout_;
  bool tells_tick_;
};

TEST(SessionLease, one_stall_makes_it_too_long_by_the_margin_of_the_deadlines_at_most) {
  for (const bool tells_tick : {false, true}) {
    const BootClock::duration length = tells_tick ? 3 * timeout : timeout;
    auto worst = BootClock::duration::min();
    for (unsigned seed = 0; seed < 2000; ++seed)
      worst = std::max(worst, Ensemble(seed, length, tells_tick).play());
    EXPECT_LE(worst, length / 6) << tells_tick;
    EXPECT_GT(worst, -length) << "it was extended at all: " << tells_tick;
  }
}

}  // namespace
}  // namespace zksh
