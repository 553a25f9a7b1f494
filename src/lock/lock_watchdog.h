// LockWatchdog: a process beside zksh that kills a program under a lock when zksh cannot.
#pragma once

#include "base/boot_clock.h"
#include "base/fd.h"

#include <chrono>
#include <sys/types.h>

namespace zksh {

/// A fork of zksh, in a session of its own, that holds nothing but a pipe and a timer. zksh tells
/// it when the program must be dead, again and again; when that time comes, because zksh is stopped
/// (SIGSTOP, Ctrl-Z), swapped out or hung, it kills the program's process group. So the program
/// ends before its lock goes to another even if zksh does not run at that time. It sees the end of
/// zksh (kill -9) as the end of the pipe: then it ends the group itself. Its timer goes on while
/// the machine sleeps, unlike the timeouts of every wait. A fork rather than a program of its own:
/// it is there within the time of a fork, and before the program starts.
class LockWatchdog {
 public:
  /// `grace`: after the end of zksh, from SIGTERM to SIGKILL. Throws std::system_error when there
  /// is no process or descriptor left.
  explicit LockWatchdog(std::chrono::milliseconds grace);
  LockWatchdog(const LockWatchdog&) = delete;
  LockWatchdog& operator=(const LockWatchdog&) = delete;
  /// Sends it away; the group is left alone.
  ~LockWatchdog();
  /// The same, without waiting for its end; nothing else may be called after it.
  void dismiss() const;

  /// Names the group that it is to kill. In a child between fork and exec, too: so there is no
  /// moment at which the program runs unknown.
  void adopt(pid_t group) const;
  /// The group is killed at this time, in place of the one that was said before; time_point::max():
  /// at no time. From any thread; never blocks.
  void kill_at(BootClock::time_point time) const;

 private:
  Fd orders_;
  pid_t pid_ = -1;
};

}  // namespace zksh
