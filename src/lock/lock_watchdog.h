// LockWatchdog: a process beside zksh that runs a program under a lock, and ends all of it in time.
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

/// The program is everything that descends from it, in whatever process group or session: what
/// `timeout`, `setsid`, a shell's job control or a second fork took out of its group, too.
///
/// The watchdog is a fork of zksh that starts the program, and it is a *subreaper*
/// (PR_SET_CHILD_SUBREAPER): the kernel makes every process below it whose parent has ended a child
/// of the watchdog. So a living descendant is a child of the watchdog, or has a living ancestor
/// that is one; and when the watchdog has no child left, nothing of the program is left. To end it
/// all, it signals what descends from it, again and again, until it has no child: what escapes one
/// look, because its parent just ended, is a child at the next. SIGKILL keeps a process from
/// forking again, so this comes to an end unless a program forks faster than it is looked at.
///
/// zksh tells it, in memory that both share, when all must be dead, and moves that time on while
/// the lock is proved. Whoever of the two fails, the other is left:
///   - zksh is stopped, swapped out or hung: the watchdog's timer, which goes on while the machine
///     sleeps, ends everything at that time.
///   - zksh is killed: the watchdog sees the end of its socket, and ends everything: SIGTERM, and
///     SIGKILL after the grace, or at that time when that is earlier. A watchdog that was stopped
///     is continued for that (its death signal is SIGCONT).
///   - The watchdog is killed: the kernel kills the program (its death signal is SIGKILL), and
///   gives
///     what descends from it to zksh, which is a subreaper too while it has a watchdog; zksh kills
///     it in the same way (end_orphans).
///   - The watchdog is stopped: zksh continues it; one that does not end the program in time is
///     killed, see above.
/// Not covered: both are killed at once (the program itself still dies by its death signal, what
/// it has left to others does not), both are stopped at once, and processes that zksh may not
/// signal (set-user-ID programs). They would take a cgroup or a PID namespace of our own.
///
/// It is a fork rather than a program of its own: it is there within the time of a fork, and that
/// is spent while the lock is asked for. It stays in zksh's session, where a program can have the
/// terminal, but in a process group of its own, with all signals blocked.
class LockWatchdog {
 public:
  /// In the order of their force.
  enum class Ending { None, Terminate, Kill };

  /// What is known of the program; a copy.
  struct View {
    std::optional<int> status;  ///< of the program itself, as Process::status
    int stop_signal = 0;        ///< as Process::stop_signal
    int left = 0;               ///< how many processes it has left behind; while status is there
    bool gone = false;          ///< nothing that descends from it is left
    bool killed = false;        ///< somebody has killed the watchdog: end_orphans is to be called

    bool operator==(const View&) const = default;
  };

  /// What the program is started with that is not known before.
  struct Start {
    std::vector<std::pair<std::string, std::string>> environment{};  ///< added to zksh's own
    bool has_terminal = false;          ///< its group becomes the foreground of the terminal
    std::chrono::milliseconds grace{};  ///< of an end without zksh: from SIGTERM to SIGKILL
    BootClock::time_point until = BootClock::time_point::max();  ///< not started from then on
  };

  /// Forks. `program`: its words and redirections; it gets a group of its own. Throws
  /// std::system_error when there is no process, memory or descriptor left.
  LockWatchdog(Monitor& monitor, Program program);
  LockWatchdog(const LockWatchdog&) = delete;
  LockWatchdog& operator=(const LockWatchdog&) = delete;
  /// Kills all of the program, unless it was dismissed, and waits for the end of the watchdog.
  ~LockWatchdog();

  /// Returns when the program runs. False: it does not, and will not, since `unwanted` was true
  /// before that, or the time had come. Throws Error when it cannot be run. Once.
  bool start(const Start& start, const std::function<bool(const Monitor::Held&)>& unwanted);

  /// The program's process id, from its start on.
  pid_t pid() const { return program_; }
  const View& view(const Monitor::Held& held) const { return view_(held); }
  View view() const;

  /// Sends a signal to the program's group, or to what is left of it. From any thread; never
  /// blocks, as the next two.
  void signal(int number);
  /// Terminate: SIGTERM to the program's group, then to each process that has lost its parent;
  /// those that are neither get it after half of the grace: so nobody who is told by its parent is
  /// told twice. Kill: SIGKILL to everything, until nothing is left. None takes Terminate back.
  void end(Ending how);
  /// Everything is killed at this time, in place of the one that was said before;
  /// time_point::max(): at no time.
  void kill_at(BootClock::time_point time);

  /// Now and then, by the thread that made it: continues a watchdog that somebody has stopped, and
  /// tells apart what others leave behind.
  void look_after();
  /// Kills a watchdog that does not do what it is told; its death does that.
  void give_up() const;
  /// After View::killed: kills all that the program has left behind; blocks until that is gone.
  void end_orphans();
  /// Sends it away, and returns before it has gone. What the program has left behind runs on.
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
