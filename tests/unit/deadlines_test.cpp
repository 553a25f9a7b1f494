// ProgramDeadlines: when a program under a lock is terminated and killed, on the test's own clock.
#include "lock/deadlines.h"

#include <gtest/gtest.h>

#include <optional>

namespace zksh {
namespace {

using namespace std::chrono_literals;
using Step = ProgramDeadlines::Step;
using Time = BootClock::time_point;

constexpr Time no_time = Time::max();
constexpr auto session = 30s;
constexpr auto told_at = 20000ms;    ///< for a lease that ends after 30 s
constexpr auto killed_at = 23750ms;  ///< likewise

Time at(BootClock::duration since_start) { return Time(1000s) + since_start; }

ProgramDeadlines deadlines(OnLost on_lost = OnLost::Terminate,
                           std::optional<std::chrono::milliseconds> grace = {}) {
  return {on_lost, session, grace};
}

TEST(ProgramDeadlines, grace_is_five_seconds_or_an_eighth_of_the_session) {
  EXPECT_EQ(ProgramDeadlines(OnLost::Terminate, 60s, {}).grace(), 5s);
  EXPECT_EQ(ProgramDeadlines(OnLost::Terminate, 12s, {}).grace(), 1500ms);
  EXPECT_EQ(ProgramDeadlines(OnLost::Terminate, 60s, 7s).grace(), 7s);
}

TEST(ProgramDeadlines, a_grace_of_more_than_a_sixth_of_the_session_is_cut_down) {
  EXPECT_EQ(ProgramDeadlines(OnLost::Terminate, 12s, 10s).grace(), 2s);
}

TEST(ProgramDeadlines, the_watchdog_kills_a_sixth_before_the_end_and_after_zksh) {
  const auto d = deadlines();
  EXPECT_EQ(d.watchdog_kills(at(30s)), at(25s));
  EXPECT_EQ(d.watchdog_kills(at(30s)) - at(killed_at), session / 24.0);
}

TEST(ProgramDeadlines, the_reserve_is_what_the_first_step_needs) {
  EXPECT_EQ(deadlines().reserve(), session - told_at);
  EXPECT_EQ(deadlines(OnLost::Kill).reserve(), session - killed_at);
  EXPECT_EQ(deadlines(OnLost::Warn).reserve(), 0s);
}

TEST(ProgramDeadlines, a_shorter_timeout_shortens_all_of_them) {
  auto d = deadlines();
  d.set_timeout(session / 5);
  EXPECT_EQ(d.grace(), 750ms);
  EXPECT_EQ(d.reserve(), (session - told_at) / 5);
  EXPECT_EQ(d.step(at(27s), at(30s)), Step::None);
  EXPECT_EQ(d.step(at(28s), at(30s)), Step::Terminate);
}

TEST(ProgramDeadlines, nothing_happens_as_long_as_servers_answer) {
  auto d = deadlines();
  for (auto now = 0s; now < 1000s; now += 5s) {
    EXPECT_EQ(d.step(at(now), at(now + session)), Step::None);
    EXPECT_FALSE(d.ended());
  }
}

TEST(ProgramDeadlines, silence_terminates_then_kills_before_the_watchdog_must) {
  auto d = deadlines();
  const auto safe = at(30s);
  EXPECT_EQ(d.next(safe), at(told_at));
  EXPECT_EQ(d.step(at(told_at) - 1ns, safe), Step::None);
  EXPECT_EQ(d.step(at(told_at), safe), Step::Terminate);
  EXPECT_EQ(d.next(safe), at(killed_at));
  EXPECT_EQ(d.step(at(killed_at) - 1ns, safe), Step::None);
  EXPECT_EQ(d.step(at(killed_at), safe), Step::Kill);
  EXPECT_EQ(d.next(safe), no_time);
  EXPECT_EQ(d.step(at(60s), safe), Step::None);
}

TEST(ProgramDeadlines, after_a_pause_beyond_the_last_moment_it_kills_at_once) {
  for (const auto woken : {25s, 29s, 31s, 500s}) {
    auto d = deadlines();
    EXPECT_EQ(d.step(at(1s), at(30s)), Step::None);
    EXPECT_EQ(d.step(at(woken), at(30s)), Step::Kill);
  }
}

TEST(ProgramDeadlines, an_answer_in_time_spares_the_program) {
  auto d = deadlines();
  EXPECT_EQ(d.step(at(23s), at(30s)), Step::Terminate);
  EXPECT_TRUE(d.ended());
  EXPECT_EQ(d.step(at(24s), at(54s)), Step::Spare);
  EXPECT_FALSE(d.ended());
  EXPECT_EQ(d.step(at(28s), at(54s)), Step::None);  // past the old moment of Kill
  EXPECT_EQ(d.next(at(54s)), at(24s + told_at));
  EXPECT_EQ(d.step(at(24s + told_at), at(54s)), Step::Terminate);
  EXPECT_EQ(d.step(at(24s + killed_at), at(54s)), Step::Kill);
}

TEST(ProgramDeadlines, kill_does_not_terminate_first) {
  auto d = deadlines(OnLost::Kill);
  EXPECT_EQ(d.next(at(30s)), at(killed_at));
  EXPECT_EQ(d.step(at(23s), at(30s)), Step::None);
  EXPECT_EQ(d.step(at(killed_at), at(30s)), Step::Kill);
}

TEST(ProgramDeadlines, warn_never_does_anything_about_a_loss) {
  auto d = deadlines(OnLost::Warn);
  EXPECT_EQ(d.next(at(30s)), no_time);
  EXPECT_EQ(d.step(at(29s), at(30s)), Step::None);
  d.lose(at(29s));
  EXPECT_EQ(d.step(at(40s), at(30s)), Step::None);
  EXPECT_EQ(d.next(at(30s)), no_time);
}

TEST(ProgramDeadlines, a_loss_terminates_at_once_and_kills_after_the_grace) {
  auto d = deadlines();
  d.lose(at(2s));
  EXPECT_EQ(d.step(at(2s), at(30s)), Step::Terminate);
  d.lose(at(5s));
  EXPECT_EQ(d.next(at(30s)), at(5750ms));
  EXPECT_EQ(d.step(at(5s), at(30s)), Step::None);
  EXPECT_EQ(d.step(at(5750ms), at(30s)), Step::Kill);
}

TEST(ProgramDeadlines, a_loss_gives_no_more_time_than_silence_did) {
  auto d = deadlines();
  d.lose(at(23s));
  EXPECT_EQ(d.step(at(23s), at(30s)), Step::Terminate);
  EXPECT_EQ(d.next(at(30s)), at(killed_at));
  EXPECT_EQ(d.step(at(killed_at), at(30s)), Step::Kill);
}

TEST(ProgramDeadlines, a_loss_during_the_grace_of_silence_does_not_begin_another) {
  auto d = deadlines();
  EXPECT_EQ(d.step(at(told_at), at(30s)), Step::Terminate);
  d.lose(at(23s));
  EXPECT_EQ(d.step(at(23s), at(30s)), Step::None);
  EXPECT_EQ(d.next(at(30s)), at(killed_at));
}

TEST(ProgramDeadlines, a_loss_kills_at_once_where_that_is_asked_for) {
  auto d = deadlines(OnLost::Kill);
  d.lose(at(2s));
  EXPECT_EQ(d.next(at(30s)), at(2s));
  EXPECT_EQ(d.step(at(2s), at(30s)), Step::Kill);
}

TEST(ProgramDeadlines, who_is_asked_to_end_gets_the_grace_whatever_on_lost_says) {
  for (const auto on_lost : {OnLost::Kill, OnLost::Terminate, OnLost::Warn}) {
    auto d = deadlines(on_lost, 1s);
    d.ask(at(2s));
    EXPECT_EQ(d.step(at(2s), at(30s)), Step::Terminate);
    d.ask(at(3s) - 1ns);
    EXPECT_EQ(d.next(at(30s)), at(3s));
    EXPECT_EQ(d.step(at(3s), at(32s)), Step::Kill);
  }
}

TEST(ProgramDeadlines, an_answer_does_not_take_back_what_was_asked) {
  auto d = deadlines();
  d.ask(at(2s));
  EXPECT_EQ(d.step(at(2s), at(30s)), Step::Terminate);
  EXPECT_EQ(d.step(at(3s), at(33s)), Step::None);
  EXPECT_TRUE(d.ended());
  EXPECT_EQ(d.step(at(5750ms), at(33s)), Step::Kill);
}

/// For any session timeout and grace period: the order of steps, and time for each.
TEST(ProgramDeadlines, terminate_comes_before_kill_and_kill_before_the_end_of_what_is_safe) {
  for (const auto timeout : {400ms, 1000ms, 4000ms, 30000ms, 600000ms})
    for (const auto grace : {0ms, 1ms, 300ms, 5000ms, 1000000ms}) {
      ProgramDeadlines d(OnLost::Terminate, timeout, grace);
      const auto safe = at(timeout);
      const auto terminated = d.next(safe);
      // A lease that is renewed in time ends 0.4 of the timeout ahead: then no Terminate.
      EXPECT_GT(safe - terminated, BootClock::duration(0));
      EXPECT_LT(safe - terminated, timeout * 2 / 5);
      const auto step = d.step(terminated, safe);
      EXPECT_EQ(step, grace == 0ms ? Step::Kill : Step::Terminate);
      if (step == Step::Kill) continue;
      const auto killed = d.next(safe);
      EXPECT_GT(killed, terminated);
      EXPECT_EQ(d.step(killed, safe), Step::Kill);
      EXPECT_LE(killed + timeout / 6, safe);
    }
}

}  // namespace
}  // namespace zksh
