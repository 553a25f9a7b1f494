// Tests of the StrandDriver: which changes let which strands go on, and what ends them.
#include "client/strand_driver.h"

#include "base/afterwards.h"
#include "base/error.h"

#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace zksh {
namespace {

using std::chrono::milliseconds;

/// One strand that waits for a flag of its own, and counts how often it was asked.
struct Waiter {
  explicit Waiter(Monitor& monitor) : strand(monitor) {}

  Flow<> wait(Clock::time_point deadline, const void* subject) {
    try {
      const bool came = co_await strand.until(
          [this](const Monitor::Held& held) {
            ++asked;
            return flag(held);
          },
          deadline, subject);
      end = came ? "came" : "late";
    } catch (const Cancelled&) {
      end = "cancelled";
    }
  }

  void begin(StrandDriver& driver, Clock::time_point deadline, const void* subject) {
    strand.begin(wait(deadline, subject));
    driver.add(strand);
  }

  Guarded<bool> flag;
  int asked = 0;  // under the monitor
  std::string end;
  Strand strand;
};

struct StrandDriverTest : testing::Test {
  Monitor monitor;
  StrandDriver driver{monitor};
  std::deque<Waiter> waiters;
  Strand serial{monitor};

  auto strand_until(const Guarded<int>& given, int at_least) {
    return serial.until(
        [&given, at_least](const Monitor::Held& held) { return given(held) >= at_least; },
        Strand::never, &given);
  }
  Waiter& waiter() { return waiters.emplace_back(monitor); }
  int asked(const Waiter& one) {
    return monitor.look([&](const Monitor::Held&) { return one.asked; });
  }
  /// Until the driver has let it run to its wait.
  void await_waiting(const Waiter& one) {
    while (asked(one) < 2) std::this_thread::yield();  // once by the strand, once by the driver
  }
  void set(Waiter& one, const void* subject) {
    monitor.change_of(subject, [&](const Monitor::Held& held) { one.flag(held) = true; });
  }
};

TEST_F(StrandDriverTest, AChangeOfOneSubjectAsksOnlyThoseThatWaitForIt) {
  auto& first = waiter();
  auto& second = waiter();
  auto& any = waiter();
  first.begin(driver, Strand::never, &first);
  second.begin(driver, Strand::never, &second);
  any.begin(driver, Strand::never, nullptr);
  std::jthread thread([&] { driver.run({}); });
  for (const auto& one : waiters) await_waiting(one);

  monitor.change_of(&first, [](const Monitor::Held&) {});
  EXPECT_EQ(3, asked(first));
  EXPECT_EQ(2, asked(second));
  EXPECT_EQ(3, asked(any));

  monitor.change([](const Monitor::Held&) {});  // of anything
  EXPECT_EQ(4, asked(first));
  EXPECT_EQ(3, asked(second));
  EXPECT_EQ(4, asked(any));

  set(second, &second);
  set(any, &any);
  set(first, nullptr);
  thread.join();
  for (const auto& one : waiters) EXPECT_EQ("came", one.end);
}

TEST_F(StrandDriverTest, SeveralMayWaitForOneSubject) {
  const int subject = 0;
  for (int i = 0; i < 5; ++i) waiter().begin(driver, Strand::never, &subject);
  std::jthread thread([&] { driver.run({}); });
  for (auto& one : waiters) {
    await_waiting(one);
    set(one, &subject);
  }
  thread.join();
  for (const auto& one : waiters) EXPECT_EQ("came", one.end);
}

TEST_F(StrandDriverTest, TheThreadOfAChangeGoesOnWhenItMay) {
  constexpr int many = 10'000;
  Guarded<int> given;
  Guarded<int> taken;
  std::thread::id taken_on;
  const auto take = [&]() -> Flow<> {
    for (int next = 1; next <= many; ++next) {
      co_await strand_until(given, next);
      taken_on = std::this_thread::get_id();
      monitor.change([&](const Monitor::Held& held) { taken(held) = next; });
    }
  };
  serial.begin(take());
  driver.add(serial);
  std::jthread thread([&] { driver.run({}); });
  int here = 0;
  for (int next = 1; next <= many; ++next) {
    {
      const Afterwards afterwards;
      monitor.change_of(&given, [&](const Monitor::Held& held) { given(held) = next; });
    }
    // The driver's own thread may not have gone to sleep yet; then it goes on.
    monitor.wait({}, [&](const Monitor::Held& held) { return taken(held) == next; });
    if (taken_on == std::this_thread::get_id()) ++here;
  }
  EXPECT_GT(here, 0);
}

/// A strand that waits for one change after the other.
struct Counter {
  explicit Counter(Monitor& monitor) : strand(monitor) {}
  Flow<> count(int until) {
    for (done = 0; done < until; ++done)
      co_await strand.until([this](const Monitor::Held& held) { return given(held) > done; },
                            Clock::now() + std::chrono::hours(1), this);
  }
  /// On any thread; may let this thread go on.
  void give(bool may_drive) {
    std::optional<Afterwards> afterwards;
    if (may_drive) afterwards.emplace();
    strand.monitor().change_of(this, [&](const Monitor::Held& held) { ++given(held); });
  }

  Guarded<int> given;
  int done = 0;  // not guarded: ThreadSanitizer sees when two threads drive at a time
  Strand strand;
};

TEST_F(StrandDriverTest, ManyThreadsDriveByTurns) {
  constexpr std::size_t threads = 4;
  constexpr int rounds = 200;
  std::deque<Counter> counters;
  for (std::size_t i = 0; i < threads; ++i) {
    auto& counter = counters.emplace_back(monitor);
    counter.strand.begin(counter.count(rounds));
    driver.add(counter.strand);
  }
  std::jthread thread([&] { driver.run({}); });
  const auto change = [&](std::size_t first) {
    for (std::size_t round = 0; round < rounds; ++round)
      counters[(first + round) % threads].give(round % 3 != 0);
  };
  std::deque<std::jthread> changers;
  for (std::size_t i = 0; i < threads; ++i) changers.emplace_back(change, i);
  changers.clear();
  thread.join();
  for (const auto& counter : counters) EXPECT_EQ(rounds, counter.done);
}

TEST_F(StrandDriverTest, WhatCameBeforeTheWaitCounts) {
  auto& one = waiter();
  set(one, &one);
  one.begin(driver, Strand::never, &one);
  driver.run({});
  EXPECT_EQ("came", one.end);
}

TEST_F(StrandDriverTest, DeadlinesEndWaitsInTheirOrder) {
  const auto now = Clock::now();
  auto& later = waiter();
  auto& sooner = waiter();
  auto& in_time = waiter();
  later.begin(driver, now + milliseconds(60), &later);
  sooner.begin(driver, now + milliseconds(20), nullptr);
  in_time.begin(driver, now + std::chrono::hours(1), &in_time);
  std::jthread thread([&] { driver.run({}); });
  await_waiting(in_time);
  set(in_time, &in_time);
  thread.join();
  EXPECT_GE(Clock::now(), now + milliseconds(60));
  EXPECT_EQ("late", later.end);
  EXPECT_EQ("late", sooner.end);
  EXPECT_EQ("came", in_time.end);
}

TEST_F(StrandDriverTest, AStopCancelsAllOfThem) {
  std::stop_source stop;
  for (int i = 0; i < 3; ++i) waiter().begin(driver, Strand::never, &waiters);
  waiter().begin(driver, Clock::now() + std::chrono::hours(1), nullptr);
  std::jthread thread([&] { driver.run(stop.get_token()); });
  for (const auto& one : waiters) await_waiting(one);
  stop.request_stop();
  thread.join();
  for (const auto& one : waiters) EXPECT_EQ("cancelled", one.end);
}

TEST_F(StrandDriverTest, AStopThatCameBeforeCancelsWhatBegins) {
  std::stop_source stop;
  stop.request_stop();
  auto& one = waiter();
  one.begin(driver, Strand::never, &one);
  driver.run(stop.get_token());
  EXPECT_EQ("cancelled", one.end);
}

TEST_F(StrandDriverTest, AFlowMayWaitAgainAndAgain) {
  constexpr int turns = 500;
  Guarded<int> given;
  Guarded<int> taken;
  const auto take = [&](Strand& strand) -> Flow<> {
    for (int i = 1; i <= turns; ++i) {
      co_await strand.until([&given, i](const Monitor::Held& held) { return given(held) >= i; },
                            Strand::never, &given);
      monitor.change_of(&taken, [&](const Monitor::Held& held) { taken(held) = i; });
    }
  };
  Strand strand(monitor);
  strand.begin(take(strand));
  driver.add(strand);
  std::jthread thread([&] { driver.run({}); });
  for (int i = 1; i <= turns; ++i) {
    monitor.change_of(&given, [&](const Monitor::Held& held) { given(held) = i; });
    monitor.wait({}, [&](const Monitor::Held& held) { return taken(held) == i; });
  }
}

TEST_F(StrandDriverTest, WhatAFlowThrowsIsLeftToItsResult) {
  const auto fail = [](Strand& strand) -> Flow<> {
    co_await strand.pause_until(Clock::now() + milliseconds(1));
    throw Error("no");
  };
  Strand strand(monitor);
  strand.begin(fail(strand));
  driver.add(strand);
  driver.run({});
  EXPECT_THROW(strand.result(), Error);
}

TEST_F(StrandDriverTest, WhatMayWaitIsDoneByTheThreadOfTheRun) {
  std::vector<std::thread::id> done_on;
  Guarded<int> given;
  const auto tell = [&]() -> Flow<> {
    driver.leave([&] { done_on.push_back(std::this_thread::get_id()); });
    co_await strand_until(given, 1);
    driver.leave([&] {
      monitor.wait({}, [](const Monitor::Held&) { return true; });
      done_on.push_back(std::this_thread::get_id());
    });
  };
  serial.begin(tell());
  driver.add(serial);
  std::jthread thread([&] { driver.run({}); });
  const auto runner = thread.get_id();
  {
    const Afterwards afterwards;  // this thread drives, and must not wait
    monitor.change_of(&given, [&](const Monitor::Held& held) { given(held) = 1; });
  }
  thread.join();
  EXPECT_EQ(done_on, (std::vector{runner, runner}));
}

TEST(NoWaitingDeathTest, AWaitOnAThreadOfTheCClientEndsTheProcess) {
  Monitor monitor;
  const auto wait = [&] {
    const Afterwards afterwards;
    monitor.wait({}, [](const Monitor::Held&) { return true; });
  };
  EXPECT_DEATH(wait(), "Monitor::wait on a thread of the C client");
}

}  // namespace
}  // namespace zksh
