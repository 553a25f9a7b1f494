// Monitor: who is woken, by what, and who is not.
#include "base/monitor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace zksh {
namespace {

using std::chrono::milliseconds;

TEST(Monitor, WaitsForAChange) {
  Monitor monitor;
  Guarded<bool> ready;
  std::jthread other(
      [&] { monitor.change([&](const Monitor::Held& held) { ready(held) = true; }); });
  EXPECT_TRUE(monitor.wait({}, [&](const Monitor::Held& held) { return ready(held); }));
}

TEST(Monitor, WhatIsTrueAlreadyIsNotWaitedFor) {
  Monitor monitor;
  std::stop_source stopped;
  stopped.request_stop();
  const auto yes = [](const Monitor::Held&) { return true; };
  EXPECT_TRUE(monitor.wait(stopped.get_token(), yes));
  EXPECT_TRUE(monitor.wait_until({}, Clock::time_point::min(), yes));
}

TEST(Monitor, GivesUpAtAStop) {
  Monitor monitor;
  std::stop_source stop;
  const auto no = [](const Monitor::Held&) { return false; };
  std::jthread other([&] { stop.request_stop(); });
  EXPECT_FALSE(monitor.wait(stop.get_token(), no));
  EXPECT_FALSE(monitor.wait(stop.get_token(), no)) << "one that was requested before";
}

TEST(Monitor, AStopMayBeRequestedUnderIt) {
  Monitor monitor;
  std::stop_source stop;
  Guarded<bool> waits;
  std::jthread other([&] {
    monitor.wait({}, [&](const Monitor::Held& held) { return waits(held); });
    monitor.change([&](const Monitor::Held&) { stop.request_stop(); });
  });
  monitor.change([&](const Monitor::Held& held) { waits(held) = true; });
  EXPECT_FALSE(monitor.wait(stop.get_token(), [](const Monitor::Held&) { return false; }));
}

TEST(Monitor, GivesUpAtTheDeadline) {
  Monitor monitor;
  const auto deadline = Clock::now() + milliseconds(20);
  EXPECT_FALSE(monitor.wait_until({}, deadline, [](const Monitor::Held&) { return false; }));
  EXPECT_GE(Clock::now(), deadline);
}

TEST(Monitor, AtTheDeadlineThePredicateHasTheLastWord) {
  Monitor monitor;
  const auto deadline = Clock::now() + milliseconds(20);
  EXPECT_TRUE(monitor.wait_until({}, deadline,
                                 [&](const Monitor::Held&) { return Clock::now() >= deadline; }));
}

TEST(Monitor, WhoeverChangesSomethingAsksAndOnlyTheReadyWake) {
  Monitor monitor;
  Guarded<int> turn{0};
  constexpr int threads = 8;
  std::vector<std::thread::id> asked_by(threads);  // last; under the monitor
  std::vector<std::jthread> all;
  all.reserve(threads);
  std::atomic<int> waiting = 0;
  for (int i = 1; i <= threads; ++i)
    all.emplace_back([&, i] {
      monitor.wait({}, [&, i, first = true](const Monitor::Held& held) mutable {
        if (std::exchange(first, false)) ++waiting;
        asked_by[static_cast<std::size_t>(i) - 1] = std::this_thread::get_id();
        return turn(held) == i;
      });
      // The predicate was true on the thread that made it so, and was not asked again here.
      monitor.with_lock([&](const Monitor::Held&) {
        EXPECT_NE(std::this_thread::get_id(), asked_by[static_cast<std::size_t>(i) - 1]);
      });
    });
  while (waiting < threads) std::this_thread::yield();
  for (int i = threads; i >= 1; --i) {
    monitor.change([&](const Monitor::Held& held) { turn(held) = i; });
    all[static_cast<std::size_t>(i) - 1].join();
  }
}

TEST(Monitor, OneOfSeveralTakesWhatIsThereOnce) {
  Monitor monitor;
  Guarded<int> free{0};
  Guarded<int> taken{0};
  constexpr int threads = 6;
  std::vector<std::jthread> all;
  all.reserve(threads);
  for (int i = 0; i < threads; ++i)
    all.emplace_back([&] {
      // A predicate may take what it finds: it is true for one waiter at a time.
      monitor.wait({}, [&](const Monitor::Held& held) {
        if (free(held) == 0) return false;
        --free(held);
        return true;
      });
      monitor.change([&](const Monitor::Held& held) { ++taken(held); });
    });
  for (int i = 1; i <= threads; ++i) {
    monitor.change([&](const Monitor::Held& held) { ++free(held); });
    EXPECT_TRUE(monitor.wait_until(
        {}, Clock::now() + std::chrono::seconds(20),
        [&](const Monitor::Held& held) { return taken(held) == i && free(held) == 0; }));
  }
}

TEST(Monitor, AChangeThatThrowsHasChangedWhatItHas) {
  Monitor monitor;
  Guarded<bool> ready;
  std::jthread other([&] {
    EXPECT_THROW(monitor.change([&](const Monitor::Held& held) {
      ready(held) = true;
      throw std::runtime_error("later");
    }),
                 std::runtime_error);
  });
  EXPECT_TRUE(monitor.wait({}, [&](const Monitor::Held& held) { return ready(held); }));
}

TEST(Monitor, AListenerHearsOfEveryChangeBeforeAWaiterIsAsked) {
  Monitor monitor;
  std::vector<const void*> heard;
  const int subject = 0;
  Guarded<bool> ready;
  std::size_t heard_when_ready = 0;
  {
    const Monitor::Listener listener(
        monitor, [&](const Monitor::Held&, const void* of) { heard.push_back(of); });
    std::jthread waiting([&] {
      monitor.wait({}, [&](const Monitor::Held& held) {
        heard_when_ready = heard.size();
        return ready(held);
      });
    });
    monitor.change([](const Monitor::Held&) {});
    monitor.with_lock([](const Monitor::Held&) {});
    monitor.change_of(&subject, [&](const Monitor::Held& held) { ready(held) = true; });
  }
  monitor.change([](const Monitor::Held&) {});
  EXPECT_EQ((std::vector<const void*>{nullptr, &subject}), heard);
  EXPECT_EQ(2U, heard_when_ready);
}

TEST(Monitor, WaitersComeAndGoWhileThingsChange) {
  Monitor monitor;
  Guarded<int> number{0};
  constexpr int threads = 4;
  constexpr int last = 2000;
  std::vector<std::jthread> all;
  all.reserve(threads);
  for (int i = 0; i < threads; ++i)
    all.emplace_back([&, i](const std::stop_token& stop) {
      for (int next = 1; next <= last; next += i + 1) {
        // Many of these end at their deadline just when they are woken.
        while (!monitor.wait_until(stop, Clock::now() + std::chrono::microseconds(50),
                                   [&](const Monitor::Held& held) { return number(held) >= next; }))
          if (stop.stop_requested()) return;
      }
    });
  for (int i = 1; i <= last; ++i)
    monitor.change([&](const Monitor::Held& held) { number(held) = i; });
  for (auto& one : all) one.join();
}

}  // namespace
}  // namespace zksh
