// Scheduler: which changes resume which fibers, and what ends them.
#include "client/scheduler.h"

#include "base/error.h"
#include "base/monitor.h"

#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace zksh {
namespace {

using std::chrono::milliseconds;

/// One fiber that waits for a flag of its own, and counts how often it was asked.
struct Waiter {
  explicit Waiter(Monitor& monitor) : fiber(monitor) {}

  Task<> wait(Clock::time_point deadline, const void* subject) {
    try {
      const bool came = co_await fiber.until(
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

  void begin(Scheduler& driver, Clock::time_point deadline, const void* subject) {
    fiber.begin(wait(deadline, subject));
    driver.add(fiber);
  }

  Guarded<bool> flag;
  int asked = 0;  // under the monitor
  std::string end;
  Fiber fiber;
};

struct SchedulerTest : testing::Test {
  Monitor monitor;
  Scheduler driver{monitor};
  std::deque<Waiter> waiters;
  Fiber serial{monitor};

  auto fiber_until(const Guarded<int>& given, int at_least) {
    return serial.until(
        [&given, at_least](const Monitor::Held& held) { return given(held) >= at_least; },
        Fiber::never, &given);
  }
  Waiter& waiter() { return waiters.emplace_back(monitor); }
  int asked(const Waiter& one) {
    return monitor.with_lock([&](const Monitor::Held&) { return one.asked; });
  }
  /// Until the driver has let it run to its wait.
  void await_waiting(const Waiter& one) {
    while (asked(one) < 2) std::this_thread::yield();  // once by the fiber, once by the driver
  }
  void set(Waiter& one, const void* subject) {
    monitor.change_of(subject, [&](const Monitor::Held& held) { one.flag(held) = true; });
  }
};

TEST_F(SchedulerTest, WhatDoesNotLeaveAfterAStopIsLeftBehind) {
  auto& one = waiter();
  auto& other = waiter();
  one.begin(driver, Fiber::never, &one);
  other.begin(driver, Fiber::never, &other);
  const Fiber::Shield shield(other.fiber);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(driver.run(stop.get_token(), milliseconds(500)));
  EXPECT_EQ(one.end, "cancelled");
  EXPECT_FALSE(other.fiber.ended());
}

TEST_F(SchedulerTest, AChangeOfOneSubjectAsksOnlyThoseThatWaitForIt) {
  auto& first = waiter();
  auto& second = waiter();
  auto& any = waiter();
  first.begin(driver, Fiber::never, &first);
  second.begin(driver, Fiber::never, &second);
  any.begin(driver, Fiber::never, nullptr);
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

TEST_F(SchedulerTest, SeveralMayWaitForOneSubject) {
  const int subject = 0;
  for (int i = 0; i < 5; ++i) waiter().begin(driver, Fiber::never, &subject);
  std::jthread thread([&] { driver.run({}); });
  for (auto& one : waiters) {
    await_waiting(one);
    set(one, &subject);
  }
  thread.join();
  for (const auto& one : waiters) EXPECT_EQ("came", one.end);
}

TEST_F(SchedulerTest, TheThreadOfAChangeGoesOnWhenItMay) {
  constexpr int many = 10'000;
  Guarded<int> given;
  Guarded<int> taken;
  std::thread::id taken_on;
  const auto take = [&]() -> Task<> {
    for (int next = 1; next <= many; ++next) {
      co_await fiber_until(given, next);
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
      const DeferredCalls afterwards;
      monitor.change_of(&given, [&](const Monitor::Held& held) { given(held) = next; });
    }
    // The driver's own thread may not have gone to sleep yet; then it goes on.
    monitor.wait({}, [&](const Monitor::Held& held) { return taken(held) == next; });
    if (taken_on == std::this_thread::get_id()) ++here;
  }
  EXPECT_GT(here, 0);
}

/// A fiber that waits for one change after the other.
struct Counter {
  explicit Counter(Monitor& monitor) : fiber(monitor) {}
  Task<> count(int until) {
    for (done = 0; done < until; ++done)
      co_await fiber.until([this](const Monitor::Held& held) { return given(held) > done; },
                           Clock::now() + std::chrono::hours(1), this);
  }
  /// On any thread; may let this thread go on.
  void give(bool may_drive) {
    std::optional<DeferredCalls> afterwards;
    if (may_drive) afterwards.emplace();
    fiber.monitor().change_of(this, [&](const Monitor::Held& held) { ++given(held); });
  }

  Guarded<int> given;
  int done = 0;  // not guarded: ThreadSanitizer sees when two threads drive at a time
  Fiber fiber;
};

TEST_F(SchedulerTest, ManyThreadsDriveByTurns) {
  constexpr std::size_t threads = 4;
  constexpr int rounds = 200;
  std::deque<Counter> counters;
  for (std::size_t i = 0; i < threads; ++i) {
    auto& counter = counters.emplace_back(monitor);
    counter.fiber.begin(counter.count(rounds));
    driver.add(counter.fiber);
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

TEST_F(SchedulerTest, WhatCameBeforeTheWaitCounts) {
  auto& one = waiter();
  set(one, &one);
  one.begin(driver, Fiber::never, &one);
  driver.run({});
  EXPECT_EQ("came", one.end);
}

TEST_F(SchedulerTest, DeadlinesEndWaitsInTheirOrder) {
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

TEST_F(SchedulerTest, AStopCancelsAllOfThem) {
  std::stop_source stop;
  for (int i = 0; i < 3; ++i) waiter().begin(driver, Fiber::never, &waiters);
  waiter().begin(driver, Clock::now() + std::chrono::hours(1), nullptr);
  std::jthread thread([&] { driver.run(stop.get_token()); });
  for (const auto& one : waiters) await_waiting(one);
  stop.request_stop();
  thread.join();
  for (const auto& one : waiters) EXPECT_EQ("cancelled", one.end);
}

TEST_F(SchedulerTest, AStopThatCameBeforeCancelsWhatBegins) {
  std::stop_source stop;
  stop.request_stop();
  auto& one = waiter();
  one.begin(driver, Fiber::never, &one);
  driver.run(stop.get_token());
  EXPECT_EQ("cancelled", one.end);
}

TEST_F(SchedulerTest, ATaskMayWaitAgainAndAgain) {
  constexpr int turns = 500;
  Guarded<int> given;
  Guarded<int> taken;
  const auto take = [&](Fiber& fiber) -> Task<> {
    for (int i = 1; i <= turns; ++i) {
      co_await fiber.until([&given, i](const Monitor::Held& held) { return given(held) >= i; },
                           Fiber::never, &given);
      monitor.change_of(&taken, [&](const Monitor::Held& held) { taken(held) = i; });
    }
  };
  Fiber fiber(monitor);
  fiber.begin(take(fiber));
  driver.add(fiber);
  std::jthread thread([&] { driver.run({}); });
  for (int i = 1; i <= turns; ++i) {
    monitor.change_of(&given, [&](const Monitor::Held& held) { given(held) = i; });
    monitor.wait({}, [&](const Monitor::Held& held) { return taken(held) == i; });
  }
}

TEST_F(SchedulerTest, WhatATaskThrowsIsLeftToItsResult) {
  const auto fail = [](Fiber& fiber) -> Task<> {
    co_await fiber.pause_until(Clock::now() + milliseconds(1));
    throw Error("no");
  };
  Fiber fiber(monitor);
  fiber.begin(fail(fiber));
  driver.add(fiber);
  driver.run({});
  EXPECT_THROW(fiber.result(), Error);
}

TEST_F(SchedulerTest, WhatMayWaitIsDoneByTheThreadOfTheRun) {
  std::vector<std::thread::id> done_on;
  Guarded<int> given;
  const auto tell = [&]() -> Task<> {
    driver.defer([&] { done_on.push_back(std::this_thread::get_id()); });
    co_await fiber_until(given, 1);
    driver.defer([&] {
      monitor.wait({}, [](const Monitor::Held&) { return true; });
      done_on.push_back(std::this_thread::get_id());
    });
  };
  serial.begin(tell());
  driver.add(serial);
  std::jthread thread([&] { driver.run({}); });
  const auto runner = thread.get_id();
  {
    const DeferredCalls afterwards;  // this thread drives, and must not wait
    monitor.change_of(&given, [&](const Monitor::Held& held) { given(held) = 1; });
  }
  thread.join();
  EXPECT_EQ(done_on, (std::vector{runner, runner}));
}

TEST(NoWaitingDeathTest, AWaitOnAThreadOfTheCClientEndsTheProcess) {
  Monitor monitor;
  const auto wait = [&] {
    const DeferredCalls afterwards;
    monitor.wait({}, [](const Monitor::Held&) { return true; });
  };
  EXPECT_DEATH(wait(), "Monitor::wait on a thread of the C client");
}

Task<int> one_at_once() { co_return 1; }

Task<> add_up(Fiber& fiber, const Guarded<bool>& go, int& sum) {
  constexpr int many = 1'000'000;
  for (int i = 0; i < many; ++i) sum += co_await one_at_once();
  co_await fiber.until([&](const Monitor::Held& held) { return go(held); });
  for (int i = 0; i < many; ++i) sum += co_await one_at_once();
}

TEST_F(SchedulerTest, ManyTasksThatNeverWaitDoNotFillTheStack) {
  Guarded<bool> go;
  int sum = 0;
  serial.begin(add_up(serial, go, sum));
  serial.resume();
  EXPECT_EQ(sum, 1'000'000);
  EXPECT_FALSE(serial.ended());
  monitor.change([&](const Monitor::Held& held) { go(held) = true; });
  serial.resume();
  EXPECT_EQ(sum, 2'000'000);
  EXPECT_TRUE(serial.ended());
  serial.result();
}

}  // namespace
}  // namespace zksh
