// LockWatchdog: what it runs, what it ends, and when.
#include "lock/watchdog.h"

#include "base/process_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace zksh {
namespace {

using namespace std::chrono_literals;

bool nobody(const Monitor::Held&) { return false; }

/// A program under a watchdog that writes the pids of its family, one per line.
class Family {
 public:
  Family(Monitor& monitor, const std::string& script)
      : monitor_(monitor),
        watchdog(monitor, {.words = {"sh", "-c", script},
                           .redirections = {{STDOUT_FILENO, pipe_.write_end.get()}}}) {
    pipe_.write_end.close();
  }

  pid_t line() const {
    std::string text;
    for (char c = 0; ::read(pipe_.read_end.get(), &c, 1) == 1 && c != '\n';) text += c;
    return text.empty() ? 0 : std::stoi(text);
  }
  bool comes(auto&& is_true) {
    return monitor_.wait_until({}, Clock::now() + 60s, [&](const Monitor::Held& held) {
      return is_true(watchdog.view(held));
    });
  }
  bool gone() {
    return comes([](const LockWatchdog::View& view) { return view.gone; });
  }
  bool killed() {
    return comes([](const LockWatchdog::View& view) { return view.killed; });
  }
  pid_t watchdog_pid() const {
    ProcessTree tree;
    for (const pid_t child : tree.children(getpid()))
      if (tree_has(child, watchdog.pid())) return child;
    return -1;
  }

 private:
  static bool tree_has(pid_t root, pid_t process) {
    ProcessTree tree;
    return std::ranges::count(tree.descendants(root), process) > 0;
  }

  Monitor& monitor_;
  Pipe pipe_ = make_pipe();

 public:
  LockWatchdog watchdog;
};

bool runs(pid_t process) {
  const char state = ProcessTree::stat(process).state;
  return state != 0 && state != 'Z' && state != 'X';
}

/// Out of the program's group, its session, and its ancestors.
constexpr auto far_away =
    "setsid sh -c '(trap \"\" TERM; sh -c \"echo \\$\\$; exec tail -f /dev/null\") & exit 0'; ";

TEST(LockWatchdog, tells_the_status_when_nothing_is_left) {
  Monitor monitor;
  Family family(monitor, "exit 7");
  ASSERT_TRUE(family.watchdog.start({}, nobody));
  EXPECT_TRUE(family.gone());
  EXPECT_EQ(family.watchdog.view().status, 7);
}

TEST(LockWatchdog, a_program_that_cannot_be_run) {
  Monitor monitor;
  LockWatchdog watchdog(monitor, {.words = {"/etc/passwd"}});
  EXPECT_THROW(watchdog.start({}, nobody), Error);
  LockWatchdog large(monitor, {.words = {"true", std::string(std::size_t{9} << 20, 'x')}});
  EXPECT_THROW(large.start({}, nobody), Error);
}

TEST(LockWatchdog, leaves_no_process_when_there_is_no_descriptor_left) {
  Monitor monitor;
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  // UndefinedBehaviorSanitizer looks at a class by a descriptor, once.
  EXPECT_FALSE(std::generic_category().message(EMFILE).empty());
  for (rlim_t more = 0; more < 2; ++more) {
    const Fd lowest(dup(STDERR_FILENO));
    const rlimit none{.rlim_cur = static_cast<rlim_t>(lowest.get()) + more,
                      .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    EXPECT_THROW(LockWatchdog(monitor, {.words = {"true"}}), std::system_error);
    setrlimit(RLIMIT_NOFILE, &before);
  }
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

TEST(LockWatchdog, waits_for_what_the_program_leaves_behind) {
  Monitor monitor;
  Family family(monitor, std::string(far_away) + "exit 3");
  ASSERT_TRUE(family.watchdog.start({}, nobody));
  const pid_t left = family.line();
  EXPECT_TRUE(family.comes([](const auto& view) { return view.status == 3 && view.left == 1; }));
  EXPECT_FALSE(family.watchdog.view().gone);
  kill(left, SIGKILL);
  EXPECT_TRUE(family.gone());
  EXPECT_EQ(family.watchdog.view().left, 0);
}

TEST(LockWatchdog, kills_everything_at_the_time_that_was_said_last) {
  Monitor monitor;
  Family family(monitor, std::string(far_away) + "trap '' TERM; tail -f /dev/null & wait");
  const auto started = BootClock::now();
  family.watchdog.kill_at(started + 10ms);
  family.watchdog.kill_at(started + 300ms);
  ASSERT_TRUE(family.watchdog.start({}, nobody));
  const pid_t far = family.line();
  EXPECT_TRUE(family.gone());
  EXPECT_GE(BootClock::now(), started + 300ms);
  EXPECT_EQ(family.watchdog.view().status, status::signal_base + SIGKILL);
  EXPECT_FALSE(runs(far));
}

TEST(LockWatchdog, kills_at_once_when_the_time_is_past) {
  Monitor monitor;
  Family family(monitor, "exec tail -f /dev/null");
  ASSERT_TRUE(family.watchdog.start({}, nobody));
  family.watchdog.kill_at(BootClock::now() - 1s);
  EXPECT_TRUE(family.gone());
}

TEST(LockWatchdog, a_time_that_was_taken_back_kills_nobody) {
  Monitor monitor;
  Family family(monitor, "exec tail -f /dev/null");
  ASSERT_TRUE(family.watchdog.start({}, nobody));
  family.watchdog.kill_at(BootClock::now() + 4s);
  family.watchdog.kill_at(BootClock::time_point::max());
  EXPECT_FALSE(monitor.wait_until({}, Clock::now() + 4500ms, [&](const Monitor::Held& held) {
    return family.watchdog.view(held).status.has_value();
  }));
}

TEST(LockWatchdog, starts_nothing_when_it_is_too_late_but_can_start_it_later) {
  Monitor monitor;
  Family late(monitor, "exit 7");
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(late.watchdog.start({.until = BootClock::now()}, nobody));
    EXPECT_EQ(late.watchdog.pid(), 0);
  }
  ASSERT_TRUE(late.watchdog.start({}, nobody));
  EXPECT_TRUE(late.gone());
  EXPECT_EQ(late.watchdog.view().status, 7);
}

TEST(LockWatchdog, who_is_told_to_end_is_told_once_wherever_it_is) {
  Monitor monitor;
  // Each counts what it is told, and goes on.
  const std::string counts = "trap 'echo 1' TERM; echo $$; while :; do sleep 0.01; done";
  Family family(monitor, "exec 2>&-; setsid sh -c \"(" + counts + ") &\"; exec tail -f /dev/null");
  ASSERT_TRUE(family.watchdog.start({.grace = 100ms}, nobody));
  const pid_t far = family.line();
  EXPECT_GT(far, 1);
  family.watchdog.end(LockWatchdog::Ending::Terminate);
  EXPECT_EQ(family.line(), 1);
  EXPECT_TRUE(family.comes([](const auto& view) {
    return view.status == status::signal_base + SIGTERM && view.left > 0;
  }));
  std::this_thread::sleep_for(200ms);  // the second half of the grace goes by
  family.watchdog.end(LockWatchdog::Ending::Kill);
  EXPECT_TRUE(family.gone());
  EXPECT_EQ(family.line(), 0);
}

TEST(LockWatchdog, its_death_ends_the_program_and_what_descends_from_it) {
  Monitor monitor;
  Family family(monitor, std::string(far_away) + "exec tail -f /dev/null");
  ASSERT_TRUE(family.watchdog.start({}, nobody));
  const pid_t far = family.line();
  const Process other(monitor, {.words = {"tail", "-f", "/dev/null"}});
  kill(family.watchdog_pid(), SIGKILL);
  ASSERT_TRUE(family.killed());
  family.watchdog.end_orphans();
  EXPECT_FALSE(runs(far));
  EXPECT_FALSE(runs(family.watchdog.pid()));
  EXPECT_EQ(family.watchdog.view().status, status::signal_base + SIGKILL);
  EXPECT_TRUE(runs(other.pid()));
}

TEST(LockWatchdog, a_stopped_one_is_continued) {
  Monitor monitor;
  Family family(monitor, "read line; exit 5");
  ASSERT_TRUE(family.watchdog.start({}, nobody));
  const pid_t watchdog = family.watchdog_pid();
  kill(watchdog, SIGSTOP);
  while (ProcessTree::stat(watchdog).state != 'T') std::this_thread::yield();
  // Its other threads may stop a moment later: ThreadSanitizer has one in every process.
  while (ProcessTree::stat(watchdog).state == 'T') family.watchdog.maintain();
  family.watchdog.signal(SIGTERM);
  EXPECT_TRUE(family.gone());
}

TEST(LockWatchdog, leaves_what_is_left_behind_alone_when_it_is_dismissed) {
  Monitor monitor;
  pid_t left = 0;
  {
    Family family(monitor, std::string(far_away) + "exit 0");
    ASSERT_TRUE(family.watchdog.start({}, nobody));
    left = family.line();
    EXPECT_TRUE(family.comes([](const auto& view) { return view.status.has_value(); }));
    family.watchdog.dismiss();
  }
  EXPECT_TRUE(runs(left));
  kill(left, SIGKILL);
}

TEST(LockWatchdog, kills_everything_when_its_owner_forgets_it) {
  Monitor monitor;
  pid_t far = 0;
  {
    Family family(monitor, std::string(far_away) + "exec tail -f /dev/null");
    ASSERT_TRUE(family.watchdog.start({}, nobody));
    far = family.line();
  }
  EXPECT_FALSE(runs(far));
}

TEST(Process, tells_which_signal_stopped_it) {
  Monitor monitor;
  const Process process(monitor,
                        {.words = {"tail", "-f", "/dev/null"}, .group = Program::Group::Own});
  for (const int signal : {SIGSTOP, SIGTSTP}) {
    process.signal(signal);
    EXPECT_TRUE(monitor.wait_until({}, Clock::now() + 60s, [&](const Monitor::Held& held) {
      return process.stop_signal(held) == signal;
    }));
    process.signal(SIGCONT);
    EXPECT_TRUE(monitor.wait_until({}, Clock::now() + 60s, [&](const Monitor::Held& held) {
      return process.stop_signal(held) == 0;
    }));
  }
}

}  // namespace
}  // namespace zksh
