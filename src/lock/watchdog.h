// LockWatchdog: a process that runs a program under a lock, and ends all of it in time.
#pragma once

#include "base/fd.h"
#include "base/monitor.h"
#include "base/process.h"
#include "base/time.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <sys/types.h>
#include <thread>
#include <utility>
#include <vector>

namespace zksh {

struct WatchdogMemory;

/// The program means all its descendants, whatever process group or session they are in: also what
/// `timeout`, `setsid`, a shell's job control or a double fork moved out of its group.
///
/// The watchdog is a fork of zksh that starts the program. It is a *subreaper*
/// (PR_SET_CHILD_SUBREAPER): every process below it whose parent ends becomes its child. So a
/// living descendant is its child, or has a living ancestor that is; and when the watchdog has no
/// child left, nothing of the program is left. To end it all, the watchdog repeatedly signals its
/// descendants until it has no child: a process that one pass misses because its parent just ended
/// is a child in the next. After SIGKILL a process cannot fork, so this terminates unless a program
/// forks faster than the passes.
///
/// zksh sets the time at which all must be dead in shared memory, and advances it while the lock is
/// proved. If either of the two fails, the other remains:
/// - zksh is stopped, swapped out or hangs: the watchdog's timer, which also counts suspension of
///   the machine, ends everything at that time.
/// - zksh is killed: the watchdog sees the end of its socket, and ends everything with SIGTERM, and
///   SIGKILL after the grace period or at that time, whichever is earlier, and says so on stderr. A
///   stopped watchdog is continued for that by its death signal, SIGCONT.
/// - The watchdog is killed: the kernel kills the program, by its death signal SIGKILL, and
///   reparents its descendants to zksh, which is also a subreaper while it has a watchdog, and
///   kills them in the same way (end_orphans).
/// - The watchdog is stopped: zksh continues it, and kills it if it does not end the program in
///   time, see above.
/// Not covered: both killed at once (the program itself still dies by its death signal, but not
/// what it has left to others), both stopped at once, and processes that zksh may not signal
/// (set-user-ID programs). These would need a cgroup or a PID namespace.
///
/// It is a fork rather than a separate program, since a fork is fast and overlaps with requesting
/// the lock. It stays in zksh's session, where a program can have the terminal, but in its own
/// process group, with all signals blocked. Its name and command line are "watchdog" and zksh's
/// pid, so that killing by name or command line does not end both, and it has priority over all
/// normal processes where the machine allows it (CAP_SYS_NICE).
class LockWatchdog {
 public:
  /// In increasing order.
  enum class Ending { None, Terminate, Kill };

  /// The state of the program; a copy.
  struct View {
    std::optional<int> status;  ///< of the program itself, as Process::status
    int stop_signal = 0;        ///< as Process::stop_signal
    int left = 0;               ///< how many processes it has left behind; valid with status
    bool gone = false;          ///< no descendant is left
    bool expired = false;       ///< the watchdog has killed it because the time of kill_at had come
    bool killed = false;        ///< the watchdog was killed: call end_orphans

    bool operator==(const View&) const = default;
  };

  /// What is known only when the program starts.
  struct Start {
    std::vector<std::pair<std::string, std::string>> environment{};  ///< added to zksh's own
    bool has_terminal = false;          ///< its group becomes the terminal's foreground group
    std::chrono::milliseconds grace{};  ///< from SIGTERM to SIGKILL, if zksh is dead
    BootClock::time_point until = BootClock::time_point::max();  ///< do not start after this
  };

  /// Forks. `program` has its words and redirections; it gets a process group of its own. Throws
  /// std::system_error if there is no process, memory or descriptor left.
  LockWatchdog(Monitor& monitor, Program program);
  LockWatchdog(const LockWatchdog&) = delete;
  LockWatchdog& operator=(const LockWatchdog&) = delete;
  /// Kills all of the program, unless dismissed, and waits for the watchdog to end.
  ~LockWatchdog();

  /// Returns true when the program runs; false if nothing was started, because `unwanted` was true
  /// or the time had passed. May be called again then. Throws Error if it cannot be executed.
  bool start(const Start& start, const std::function<bool(const Monitor::Held&)>& unwanted);

  /// The program's process id, once started.
  pid_t pid() const { return program_; }
  const View& view(const Monitor::Held& held) const { return view_(held); }
  View view() const;

  /// As Process::resume, but does not wait beyond `until`.
  void resume(Clock::time_point until);
  /// Sends a signal to the program's group, or what is left of it. From any thread; never blocks,
  /// as the next two.
  void signal(int number);
  /// Terminate sends SIGTERM to the program's group, then to each process that has lost its parent,
  /// and after half of the grace period to all others; so a process that its parent terminates does
  /// not get it twice. Kill sends SIGKILL to everything until nothing is left. None revokes
  /// Terminate.
  void end(Ending how);
  /// Sets the time at which everything is killed, replacing the previous one; time_point::max():
  /// never.
  void kill_at(BootClock::time_point time);

  /// Call from time to time on the thread that created this: continues a stopped watchdog, and
  /// identifies orphans that are not the program's.
  void maintain();
  /// Kills a watchdog that does not obey, which kills the program.
  void give_up() const;
  /// Call after View::killed: kills all that the program has left behind; blocks until it is gone.
  void end_orphans();
  /// Ends the watchdog without waiting for it. What the program has left behind keeps running.
  void dismiss();

 private:
  void listen();
  void wake() const;
  bool is_alive() const;

  Monitor& monitor_;
  Program program_words_;
  std::unique_ptr<WatchdogMemory, void (*)(WatchdogMemory*)> shared_;
  Fd socket_;
  pid_t pid_ = -1;
  pid_t program_ = -1;
  Guarded<View> view_;
  Guarded<bool> settled_;   ///< the program runs, or could not be started
  std::set<pid_t> others_;  ///< adopted children that do not descend from the program
  bool dismissed_ = false;
  std::thread watcher_;
};

}  // namespace zksh
