// SessionLease: which requests prove that the leader has heard of a session, on the test's own
// clock. deadlines_model_test.cpp plays it against an ensemble.
#include "session/session_lease.h"

#include "client/lease_renewal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

namespace zksh {
namespace {

using namespace std::chrono_literals;
using Time = BootClock::time_point;

Time after(BootClock::duration since_start) { return Time(1000s) + since_start; }
constexpr BootClock::duration timeout = 4s;
constexpr BootClock::duration near = 1ms;
/// What is left of it for a server's clock that is fast.
constexpr auto lasts = timeout - timeout / 50;

/// A request that is answered after a millisecond.
void ask(SessionLease& lease, Time when, bool by_agreement) {
  lease.answer(lease.send(when, by_agreement), when + 1ms, true);
}

struct NewLease : SessionLease {
  explicit NewLease(Time when) { begin(when, true, zksh::timeout); }
};

TEST(SessionLease, nothing_is_known_before_a_session_begins) {
  EXPECT_EQ(SessionLease().end(), Time());
}

TEST(SessionLease, a_created_session_lasts_from_when_it_was_asked_for) {
  EXPECT_EQ(NewLease(after(0s)).end(), after(0s) + lasts);
}

TEST(SessionLease, reads_and_pings_alone_prove_nothing) {
  NewLease lease(after(0s));
  for (auto now = 100ms; now < 8s; now += 100ms) ask(lease, after(now), false);
  EXPECT_EQ(lease.end(), after(0s) + lasts);
}

TEST(SessionLease, a_transaction_alone_proves_nothing) {
  NewLease lease(after(0s));
  ask(lease, after(3s), true);
  ask(lease, after(3100ms), true);
  EXPECT_EQ(lease.end(), after(0s) + lasts) << "nothing was sent half a tick before";
}

TEST(SessionLease, a_transaction_proves_what_was_answered_half_a_tick_before) {
  NewLease lease(after(0s));
  ask(lease, after(1s), false);
  ask(lease, after(2s), false);
  ask(lease, after(2500ms), true);
  EXPECT_EQ(lease.end(), after(0s) + timeout / 6 + lasts)
      << "the leader has not heard of the session for long: there may have been a pause";
  ask(lease, after(2600ms), true);
  EXPECT_EQ(lease.end(), after(1s) + lasts) << "the read after 2 s is not old enough";
  ask(lease, after(3200ms), true);
  EXPECT_EQ(lease.end(), after(1s) + timeout / 6 + lasts) << "as after 2.5 s";
  ask(lease, after(3300ms), true);
  EXPECT_EQ(lease.end(), after(2s) + lasts);
}

TEST(SessionLease, a_tick_that_is_known_makes_it_longer) {
  NewLease lease(after(0s));
  lease.learn_tick(200ms);
  for (auto when = 500ms; when <= 3s; when += 500ms) ask(lease, after(when), true);
  EXPECT_EQ(lease.end(), after(2500ms) + lasts)
      << "without it, the request after 1.5 s would count";
  ask(lease, after(3150ms), true);
  EXPECT_EQ(lease.end(), after(2500ms) + lasts) << "half a tick, but no margin";
  ask(lease, after(3300ms), true);
  EXPECT_EQ(lease.end(), after(3s) + lasts);
}

TEST(SessionLease, it_is_the_answer_that_must_be_old) {
  NewLease lease(after(0s));
  const auto slow = lease.send(after(500ms), false);
  lease.answer(slow, after(2400ms), true);
  ask(lease, after(2500ms), true);
  ask(lease, after(3s), true);
  EXPECT_EQ(lease.end(), after(0s) + lasts)
      << "the follower may have taken it in just before it answered";
  ask(lease, after(3600ms), true);
  EXPECT_EQ(lease.end(), after(500ms) + lasts) << "but from then on it lasts from when it was sent";
}

TEST(SessionLease, what_is_refused_was_not_agreed_to) {
  NewLease lease(after(0s));
  ask(lease, after(1s), false);
  for (const auto when : {2500ms, 2600ms})
    lease.answer(lease.send(after(when), true), after(when) + 1ms, false);
  EXPECT_EQ(lease.end(), after(0s) + lasts);
}

TEST(SessionLease, two_transactions_at_once_are_one) {
  NewLease lease(after(0s));
  ask(lease, after(1s), false);
  const auto first = lease.send(after(2500ms), true);
  const auto second = lease.send(after(2500ms), true);
  lease.answer(first, after(3s), true);
  lease.answer(second, after(3s), true);
  EXPECT_EQ(lease.end(), after(0s) + timeout / 6 + lasts)
      << "both may have been held up by one pause";
}

TEST(SessionLease, a_resumed_session_counts_once_a_transaction_was_agreed_to) {
  NewLease lease(after(0s));
  lease.begin(after(3s), false, timeout);
  EXPECT_EQ(lease.end(), after(0s) + lasts) << "the leader may have been deposed";
  ask(lease, after(3100ms), false);
  EXPECT_EQ(lease.end(), after(0s) + lasts);
  ask(lease, after(3200ms), true);
  EXPECT_EQ(lease.end(), after(3s) + lasts);
}

TEST(SessionLease, requests_on_another_connection_do_not_count) {
  NewLease lease(after(0s));
  ask(lease, after(1s), true);
  ask(lease, after(1500ms), true);
  lease.begin(after(2s), false, timeout);
  ask(lease, after(2100ms), true);
  EXPECT_EQ(lease.end(), after(2s) + lasts);
  ask(lease, after(2200ms), true);
  EXPECT_EQ(lease.end(), after(2s) + lasts);
}

TEST(SessionLease, a_connection_does_not_make_it_shorter) {
  NewLease lease(after(3s));
  lease.begin(after(1s), true, timeout);
  EXPECT_EQ(lease.end(), after(3s) + lasts);
}

TEST(SessionLease, a_server_that_grants_less_makes_it_shorter) {
  constexpr auto shorter = timeout / 2;
  constexpr auto lasts_shorter = shorter - shorter / 50;
  NewLease lease(after(0s));
  lease.begin(after(1s), false, shorter);
  EXPECT_EQ(lease.timeout(), shorter);
  EXPECT_EQ(lease.end(), after(1s) + lasts_shorter);
  lease.begin(after(2s), false, timeout);
  ask(lease, after(2100ms), true);
  EXPECT_EQ(lease.timeout(), shorter) << "the answer of one that grants less again may be lost";
  EXPECT_EQ(lease.end(), after(2s) + lasts_shorter);
}

/// As a contender asks who has waited; the creation of its node is the first.
void await_turn(SessionLease& lease, Time from, BootClock::duration for_so_long,
                BootClock::duration interval) {
  ask(lease, from, true);
  for (auto now = interval; now < for_so_long; now += interval) ask(lease, from + now, false);
}

TEST(SessionLease, lasts_after_a_wait_once_two_checks_were_answered) {
  constexpr auto reserve = timeout / 3;
  NewLease lease(after(0s));
  EXPECT_TRUE(lease.lasts(after(0s), reserve, near));
  await_turn(lease, after(0s), 6s, timeout / 12);
  EXPECT_FALSE(lease.lasts(after(6s), reserve, near));
  ask(lease, after(6s), true);
  EXPECT_FALSE(lease.lasts(after(6s), reserve, near));
  ask(lease, after(6002ms), true);
  EXPECT_TRUE(lease.lasts(after(6003ms), reserve, near));
}

TEST(SessionLease, lasts_only_if_the_next_checks_prove_something) {
  constexpr auto reserve = timeout / 3;
  NewLease lease(after(0s));
  await_turn(lease, after(0s), 6s, timeout / 3);
  for (const auto when : {6000ms, 6002ms}) ask(lease, after(when), true);
  EXPECT_GT(lease.end() - after(6s), reserve + timeout / 10)
      << "it is long enough for the next check";
  EXPECT_FALSE(lease.lasts(after(6003ms), reserve, near)) << "which proves nothing new";
}

TEST(SessionLease, after_a_short_wait_no_check_is_needed) {
  NewLease lease(after(0s));
  await_turn(lease, after(0s), 1500ms, timeout / 12);
  EXPECT_TRUE(lease.lasts(after(1500ms), timeout / 3, near));
}

/// A holder's requests, each answered after `took`. Returns the least that was left of the lease
/// from `since` on.
BootClock::duration hold(SessionLease& lease, BootClock::duration took, Time since, Time until) {
  LeaseRenewal renewal(timeout, LeaseRenewal::Stage::Holding, after(0s));
  std::deque<SessionLease::Sent> under_way;
  auto least = timeout;
  for (auto now = after(0s); now < until;) {
    const auto next = renewal.next();
    if (!under_way.empty() && under_way.front().at + took <= next) {
      now = under_way.front().at + took;
      if (now > since) least = std::min(least, lease.end() - now);
      lease.answer(under_way.front(), now, true);
      under_way.pop_front();
    } else {
      now = next;
      const auto request = renewal.due(now);
      renewal.sent(request, now);
      under_way.push_back(lease.send(now, request == LeaseRenewal::Request::Check));
    }
  }
  return least;
}

TEST(SessionLease, far_away_it_lasts_with_the_timeout_that_is_asked_for) {
  constexpr double usual_share = 1.0 / 3;
  for (const auto round_trip : {200ms, 250ms, 300ms}) {
    ASSERT_LE(LeaseRenewal::least_timeout(round_trip, usual_share), timeout);
    const auto took = LeaseRenewal::longest_answer(timeout, round_trip);
    NewLease lease(after(0s));
    EXPECT_GE(hold(lease, took, after(4s), after(20s)), timeout / 3) << round_trip / 1ms;
    EXPECT_TRUE(lease.lasts(after(20s), timeout / 3, round_trip)) << round_trip / 1ms;
  }
}

TEST(SessionLease, at_twice_that_distance_it_does_not_last) {
  constexpr auto round_trip = 600ms;
  EXPECT_GT(LeaseRenewal::least_timeout(round_trip, 1.0 / 3), timeout);
  NewLease lease(after(0s));
  hold(lease, round_trip, after(0s), after(20s));
  EXPECT_FALSE(lease.lasts(after(20s), timeout / 3, round_trip));
}

TEST(SessionLease, many_requests_count_as_a_few_do) {
  NewLease lease(after(0s));
  for (auto now = 1ms; now < 20s; now += 1ms) ask(lease, after(now), now.count() % 500 == 0);
  EXPECT_GE(lease.end(), after(18s) + lasts)
      << "proven up to 0.35 of the timeout and a transaction ago";
  EXPECT_LE(lease.end(), after(20s) - timeout / 4 + lasts);
}

}  // namespace
}  // namespace zksh
