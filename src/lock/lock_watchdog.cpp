// LockWatchdog: a process beside zksh that kills a program under a lock when zksh cannot.
#include "lock/lock_watchdog.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace zksh {
namespace {

/// Small enough for a pipe to pass it whole.
struct Order {
  enum class Kind : std::int64_t { Adopt, KillAt };
  Kind kind;
  std::int64_t value;  ///< the group; nanoseconds of BootClock
};

constexpr auto never = BootClock::time_point::max();

/// What runs in the fork. Other threads may have held any lock at that time: async-signal-safe
/// functions only.
class Watch {
 public:
  Watch(int orders, std::chrono::milliseconds grace)
      : orders_(orders), timer_(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC)), grace_(grace) {}

  [[noreturn]] void keep() {
    for (;;) {
      std::array<pollfd, 2> waiting{{{.fd = timer_, .events = POLLIN, .revents = 0},
                                     {.fd = orders_, .events = POLLIN, .revents = 0}}};
      poll(waiting.data(), waiting.size(), -1);
      if (deadline_ != never && BootClock::now() >= deadline_) end_group(SIGKILL);
      if (waiting[0].revents != 0) set_timer(never);
      if (waiting[1].revents != 0) obey();
    }
  }

 private:
  void obey() {
    Order order{};
    const auto count = read(orders_, &order, sizeof order);
    if (count == 0) bereaved();
    if (count != sizeof order) return;
    if (order.kind == Order::Kind::Adopt) {
      group_ = static_cast<pid_t>(order.value);
      // So that the number cannot be taken for another's later.
      leader_ = static_cast<int>(syscall(SYS_pidfd_open, group_, 0));
    } else {
      deadline_ = BootClock::time_point(std::chrono::nanoseconds(order.value));
      set_timer(deadline_);
    }
  }

  void set_timer(BootClock::time_point time) const {
    const auto since_boot = time.time_since_epoch();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_boot);
    itimerspec when{};  // zero: never
    if (time != never) {
      when.it_value.tv_sec = seconds.count();
      when.it_value.tv_nsec = std::max<std::int64_t>((since_boot - seconds).count(), 1);
    }
    timerfd_settime(timer_, TFD_TIMER_ABSTIME, &when, nullptr);
  }

  void end_group(int signal) const {
    if (group_ > 0) kill(-group_, signal);
  }

  /// zksh is dead. The kernel has sent its program SIGTERM; the rest of the group gets it when the
  /// program has ended, or has not heeded it: two at once would be one too many for a program that
  /// takes the second as an order to end without clearing up.
  [[noreturn]] void bereaved() {
    const auto killed = std::min(BootClock::now() + grace_, deadline_);
    await_leader(std::min(killed, BootClock::now() + grace_ / 2));
    end_group(SIGTERM);
    while (BootClock::now() < killed && group_ > 0 && kill(-group_, 0) == 0) poll(nullptr, 0, 10);
    end_group(SIGKILL);
    _exit(0);
  }

  void await_leader(BootClock::time_point until) const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::max(until - BootClock::now(), BootClock::duration(0)));
    pollfd waiting{.fd = leader_, .events = POLLIN, .revents = 0};
    if (leader_ >= 0) poll(&waiting, 1, static_cast<int>(left.count()));
  }

  int orders_;
  int timer_;
  std::chrono::milliseconds grace_;
  pid_t group_ = 0;
  int leader_ = -1;
  BootClock::time_point deadline_ = never;
};

/// In the fork, with all signals blocked: SIGKILL and SIGSTOP alone reach it.
[[noreturn]] void become_watchdog(int orders, std::chrono::milliseconds grace) {
  setsid();
  // Whoever kills all that is called zksh does not mean it.
  prctl(PR_SET_NAME, "lock-watchdog");
  // A connection, or somebody's pipe, is not to be kept open by it.
  const auto number = static_cast<unsigned>(orders);
  if (number > 0) close_range(0, number - 1, 0);
  close_range(number + 1, UINT_MAX, 0);
  Watch(orders, grace).keep();
}

}  // namespace

LockWatchdog::LockWatchdog(std::chrono::milliseconds grace) {
  Pipe pipe = make_pipe();
  // It may be stopped: its orders are never waited for.
  fcntl(pipe.write_end.get(), F_SETFL, O_NONBLOCK);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_ = fork();
  if (pid_ == 0) become_watchdog(pipe.read_end.get(), grace);
  const int problem = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid_ < 0) throw std::system_error(problem, std::generic_category(), "fork");
  orders_ = std::move(pipe.write_end);
}

LockWatchdog::~LockWatchdog() {
  dismiss();
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void LockWatchdog::dismiss() const { kill(pid_, SIGKILL); }

void LockWatchdog::adopt(pid_t group) const {
  const Order order{.kind = Order::Kind::Adopt, .value = group};
  [[maybe_unused]] const auto written = write(orders_.get(), &order, sizeof order);
}

void LockWatchdog::kill_at(BootClock::time_point time) const {
  const Order order{.kind = Order::Kind::KillAt, .value = time.time_since_epoch().count()};
  [[maybe_unused]] const auto written = write(orders_.get(), &order, sizeof order);
}

}  // namespace zksh
