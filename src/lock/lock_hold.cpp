// LockHold: holding a lock in the foreground.
#include "lock/lock_hold.h"

#include "base/fd.h"
#include "base/json.h"
#include "lock/lock_text.h"
#include "lock/token_file.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace zksh {
namespace {

/// Sees the end of standard input. Its thread reads what comes before it.
class InputEnd {
 public:
  InputEnd(Monitor& monitor, HoldInput input) : monitor_(monitor) {
    if (input == HoldInput::Never) return;
    struct stat info {};
    terminal_ = isatty(STDIN_FILENO) == 1;
    const bool lasts = fstat(STDIN_FILENO, &info) == 0 &&
                       (terminal_ || S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode));
    if (!lasts) {
      monitor_.with_lock(
          [&](const Monitor::Held& held) { reached_(held) = input == HoldInput::Always; });
      return;
    }
    stop_fd_ = Fd(eventfd(0, EFD_CLOEXEC));
    thread_ = std::thread([this] { watch(); });
  }
  InputEnd(const InputEnd&) = delete;
  InputEnd& operator=(const InputEnd&) = delete;
  ~InputEnd() {
    if (!thread_.joinable()) return;
    eventfd_write(stop_fd_.get(), 1);
    thread_.join();
  }

  bool reached(const Monitor::Held& held) const { return reached_(held); }

 private:
  void watch() {
    // In the background, a read from the terminal would stop zksh, and nobody would prove the lock.
    sigset_t ttin;
    sigemptyset(&ttin);
    sigaddset(&ttin, SIGTTIN);
    pthread_sigmask(SIG_BLOCK, &ttin, nullptr);
    while (true) {
      const bool ours = !terminal_ || tcgetpgrp(STDIN_FILENO) == getpgrp();
      std::array<pollfd, 2> waiting{
          {{.fd = stop_fd_.get(), .events = POLLIN, .revents = 0},
           {.fd = ours ? STDIN_FILENO : -1, .events = POLLIN, .revents = 0}}};
      poll(waiting.data(), waiting.size(), terminal_ ? 500 : -1);
      if (waiting[0].revents != 0) return;
      if (waiting[1].revents != 0 && ends()) break;
    }
    monitor_.change([&](const Monitor::Held& held) { reached_(held) = true; });
  }

  bool ends() const {
    if (terminal_ && tcgetpgrp(STDIN_FILENO) != getpgrp()) return false;
    std::array<char, 4096> thrown_away{};
    const auto count = read(STDIN_FILENO, thrown_away.data(), thrown_away.size());
    if (count > 0) return false;
    return count == 0 || (errno != EINTR && errno != EAGAIN);
  }

  Monitor& monitor_;
  bool terminal_ = false;
  Fd stop_fd_;
  Guarded<bool> reached_;
  std::thread thread_;
};

Clock::time_point end_of(const LockHold& hold) {
  return hold.duration ? Clock::now() + *hold.duration : Clock::time_point::max();
}

}  // namespace

int hold_lock(Context& cx, LockManager& table, Lock& lock, const LockHold& hold) {
  HeldLock held_lock(table, lock);
  auto& monitor = cx.client.monitor();
  const auto until = end_of(hold);
  const auto holding = lock.status().holding;
  // One that is lost or asked back meanwhile is seen below.
  if (!hold.token_file.empty()) write_token_file(hold.token_file, lock, monitor, cx.stop);
  if (cx.out.json())
    cx.out.line("{}", Json::object().set("node", holding.nodes.front()).text());
  else
    cx.out.line("{}", cx.out.shown(holding.nodes.front()));
  bool stopped = false;
  {
    const InputEnd input(monitor, hold.input);
    monitor.wait_until(cx.stop, until, [&](const Monitor::Held& held) {
      return lock.stage(held) == LockStage::Gone || input.reached(held);
    });
    stopped = cx.stop.stop_requested();
  }
  const bool told = lock.status().stage == LockStage::Gone;  // its keeper says why
  held_lock.give_back();
  const auto now = lock.status();
  if (now.end == LockEnd::Lost) {
    table.forget(lock);
    return status::lock_lost;
  }
  if (now.end == LockEnd::Released && !told && !hold.quiet) table.say(released_line(lock, now));
  if (stopped) throw Cancelled();
  return status::ok;
}

}  // namespace zksh
