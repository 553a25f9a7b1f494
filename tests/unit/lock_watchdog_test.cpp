// The watchdog of a program under a lock: what it kills, and when.
#include "lock/lock_watchdog.h"

#include "base/process.h"
#include "base/process_table.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <unistd.h>
#include <vector>

namespace zksh {
namespace {

using namespace std::chrono_literals;

Program in_own_group(const std::string& script) {
  return {.words = {"sh", "-c", script}, .group = Program::Group::Own};
}

TEST(LockWatchdog, kills_the_group_at_the_time_that_was_said_last) {
  Monitor monitor;
  const LockWatchdog watchdog(1s);
  const auto started = BootClock::now();
  watchdog.kill_at(started + 10ms);
  watchdog.kill_at(started + 300ms);
  const Process program(monitor, in_own_group("trap '' TERM; sleep 1000 & wait"));
  watchdog.adopt(program.pid());
  EXPECT_EQ(program.wait(), status::signal_base + SIGKILL);
  EXPECT_GE(BootClock::now(), started + 300ms);
}

TEST(LockWatchdog, kills_at_once_when_the_time_is_past) {
  Monitor monitor;
  const LockWatchdog watchdog(1s);
  const Process program(monitor, in_own_group("exec sleep 1000"));
  watchdog.adopt(program.pid());
  watchdog.kill_at(BootClock::now() - 1s);
  EXPECT_EQ(program.wait(), status::signal_base + SIGKILL);
}

TEST(LockWatchdog, a_time_that_was_taken_back_kills_nobody) {
  Monitor monitor;
  const LockWatchdog watchdog(1s);
  const Process program(monitor, in_own_group("exec sleep 1000"));
  watchdog.adopt(program.pid());
  watchdog.kill_at(BootClock::now() + 100ms);
  watchdog.kill_at(BootClock::time_point::max());
  EXPECT_FALSE(monitor.wait_until({}, Clock::now() + 300ms, [&](const Monitor::Held& held) {
    return program.status(held).has_value();
  }));
}

TEST(LockWatchdog, leaves_the_group_alone_when_it_is_sent_away) {
  Monitor monitor;
  const Process program(monitor, in_own_group("exec sleep 1000"));
  {
    const LockWatchdog watchdog(1s);
    watchdog.adopt(program.pid());
    watchdog.kill_at(BootClock::now() + 1h);
  }
  EXPECT_FALSE(program.status());
  EXPECT_EQ(group_members(program.pid()), std::vector<pid_t>{program.pid()});
}

TEST(LockWatchdog, adopts_a_program_before_it_runs) {
  Monitor monitor;
  const LockWatchdog watchdog(1s);
  watchdog.kill_at(BootClock::now() - 1s);
  auto program = in_own_group("exec sleep 1000");
  program.last_act = [&] { watchdog.adopt(getpid()); };
  const Process process(monitor, program);
  // The time came before the group was known: the next order finds it past.
  watchdog.kill_at(BootClock::now());
  EXPECT_EQ(process.wait(), status::signal_base + SIGKILL);
}

TEST(Process, tells_which_signal_stopped_it) {
  Monitor monitor;
  const Process process(monitor, in_own_group("exec sleep 1000"));
  for (const int signal : {SIGSTOP, SIGTSTP}) {
    process.signal(signal);
    EXPECT_TRUE(monitor.wait_until({}, Clock::now() + 10s, [&](const Monitor::Held& held) {
      return process.stop_signal(held) == signal;
    }));
    process.signal(SIGCONT);
    EXPECT_TRUE(monitor.wait_until({}, Clock::now() + 10s, [&](const Monitor::Held& held) {
      return process.stop_signal(held) == 0;
    }));
  }
}

}  // namespace
}  // namespace zksh
