// Tests of the StrandDriver: which changes let which strands go on, and what ends them.
#include "strand_driver.h"

#include "error.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <thread>

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

}  // namespace
}  // namespace zksh
