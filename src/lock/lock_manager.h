// LockManager: the locks that this process holds and waits for, each kept by a task until it is
// gone.
#pragma once

#include "base/carried_output.h"
#include "base/monitor.h"
#include "base/process.h"
#include "base/time.h"
#include "client/guarded_client.h"
#include "lock/lock_checks.h"
#include "lock/lock_view.h"
#include "recipes/recipe.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace zksh {

/// Runs a command once, on a thread of its own, so that nobody who has to end a program in time is
/// kept from it. The command is no part of that program. What is left of it after 10 s is killed.
/// Members may be called from any thread, but not under the Monitor.
class LossCommand {
 public:
  /// `output`: takes what it prints, and outlives it; null: it prints itself.
  LossCommand(Monitor& monitor, CarriedOutput* output) : monitor_(monitor), output_(output) {}
  LossCommand(const LossCommand&) = delete;
  LossCommand& operator=(const LossCommand&) = delete;
  /// Blocks until the command has ended.
  ~LossCommand();

  /// Returns at once; the first call counts. `say` is told what went wrong, from any thread. The
  /// program gets an empty input, and a process group of its own.
  void start(Program program, const std::function<void(const std::string& line)>& say);
  bool running(const Monitor::Held& held) const { return running_(held); }

 private:
  void run(Program program);

  Monitor& monitor_;
  CarriedOutput* output_;
  Guarded<bool> started_;
  Guarded<bool> running_;
  std::thread thread_;
};

enum class LockStage {
  Asking,   ///< its first request is on its way
  Waiting,  ///< in the queue
  Held,
  Suspended,  ///< held, but no server answers; still safe until `safe_until`
  Releasing,  ///< its nodes are being taken back
  Gone,
};

/// How a lock ended.
enum class LockEnd {
  Released,
  Lost,     ///< another may have had it before it was given back
  Stuck,    ///< no longer needed, but its nodes may not be removed: they go with the session
  Refused,  ///< busy, interrupted, or an error, before it was held: nothing is left
};

enum class OnRevoke { Release, Ignore, Run };

/// What is known of one lock; a copy.
struct LockStatus {
  LockStage stage = LockStage::Asking;
  std::string kind{};  ///< as LockPlan::kind; another after a downgrade
  LockPlace place{};   ///< while Waiting
  /// While Waiting: why that does not end by itself, if that was found (CircleWatch).
  std::optional<LockCircle> circle{};
  LockHolding holding{};  ///< from Held on
  Clock::time_point asked{};
  Clock::time_point held{};            ///< since when, from Held on
  BootClock::time_point safe_until{};  ///< no server gives the lock away before that
  bool revoked = false;                ///< somebody asked for it to be released
  bool occupied = false;               ///< a program runs under it
  bool unwanted = false;   ///< that program is to end: this shell wants to give the lock back
  int nested = 1;          ///< times that it was locked by this shell
  bool forgotten = false;  ///< of Lost: its owner knows; what is left of it is still removed
  std::optional<LockEnd> end{};
  std::string reason{};        ///< of Lost, for people: "the session expired"
  std::exception_ptr error{};  ///< of Refused
};

/// What a lock is to be.
struct LockPlan {
  std::vector<std::string> paths;  ///< one, or those of a multi-lock
  std::string kind = "exclusive";  ///< for people: exclusive, read, write, "semaphore of 3"
  /// Makes the recipe; called once, on the manager's thread.
  std::function<std::unique_ptr<Recipe>(Client&, Fiber&, const LockReport&)> recipe;
  LockReport report{};  ///< called on the manager's thread
  Clock::time_point deadline = Fiber::never;
  OnRevoke on_revoke = OnRevoke::Release;
  std::string revoke_command{};  ///< of OnRevoke::Run: for $SHELL -c
  std::string lost_command{};    ///< run when it is lost, for $SHELL -c; empty: none
  bool program = false;          ///< a program runs under it: its owner releases it when revoked
  bool guard = false;            ///< its nodes guard this shell's writes (GuardedClient)
  bool background = false;       ///< nobody waits for it: it announces itself
  bool job = false;              ///< it was asked for in the background: Ctrl-C does not reach it
  bool awaited = false;          ///< its owner waits for its end: a program, --hold
  bool quiet = false;            ///< its release at the end of the shell is not told
};

class CircleWatch;

/// One lock of this process. Members may be called from any thread, but not under the Monitor.
class Lock {
 public:
  /// `output`: takes what its command for a loss prints, or null.
  Lock(Monitor& monitor, LockPlan plan, CarriedOutput* output);
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock();

  const LockPlan& plan() const { return plan_; }
  /// "/a" or "/a /b".
  std::string name() const;
  LockStatus status() const;
  const LockStatus& status(const Monitor::Held& held) const { return status_(held); }
  LockStage stage(const Monitor::Held& held) const { return status_(held).stage; }

  /// Gives it back, or leaves the queue; returns at once. Nothing happens when it is gone. One
  /// under which a program runs is only marked as unwanted: it is given back at the program's end.
  void release();
  /// For a program that is to run under it, before it starts; false when the lock is not held, or
  /// is being given back. `vacate` must follow: it is released only after that.
  bool occupy();
  void vacate();
  /// Starts the plan's command for a loss, unless that was done before; returns at once. `reason`:
  /// what is told of the loss.
  void tell_loss(const std::string& reason,
                 const std::function<void(const std::string& line)>& say);
  /// Turns a write lock into a read lock; blocks until that is done. Throws what went wrong, and
  /// ValueError when it is not held yet.
  void downgrade(const std::stop_token& stop);
  /// False, and nothing is counted: it is not held, or is being given back.
  bool nest();
  /// False: it was nested, and is held on.
  bool unnest();

 private:
  friend class LockManager;
  friend class LockKeeper;
  friend class CircleWatch;

  /// What its owners want of it.
  struct Wishes {
    bool release = false;
    /// Answered when the downgrade is done; the error is null when it went well.
    std::shared_ptr<Guarded<std::optional<std::exception_ptr>>> downgrade;
  };

  Monitor& monitor_;
  LockPlan plan_;
  Fiber fiber_;
  LossCommand loss_command_;
  Guarded<LockStatus> status_;
  Guarded<Wishes> wishes_;
};

/// Owns the thread that keeps the locks: it drives their tasks, proves every sixth of the session
/// timeout that they are still held, and tells the user what happens to them. Members may be
/// called from any thread, but not under the Monitor.
class LockManager {
 public:
  /// Prints a line for the user; from any thread. Never blocks.
  using Say = std::function<void(const std::string& line)>;
  /// Hears of what its owner tells and shows of the locks. Called from any thread; neither blocks.
  struct Teller {
    Say say;
    std::function<void()> changed;  ///< the summary may be another; null where nobody shows it
    /// Takes what programs print while a line is typed; null where none is.
    CarriedOutput* output = nullptr;
  };

  LockManager(Monitor& monitor, Client& client, Teller teller);
  LockManager(const LockManager&) = delete;
  LockManager& operator=(const LockManager&) = delete;
  /// As close, without patience.
  ~LockManager();

  /// Begins to ask for a lock, and returns at once. Throws UsageError when this process has a lock,
  /// or waits for one, on one of the paths: it would wait for itself.
  std::shared_ptr<Lock> ask(LockPlan plan);
  /// Blocks until a lock is held or gone; false when it is neither by the deadline. Throws
  /// Cancelled on a stop. In both cases the lock is asked for on.
  bool await_held(const Lock& lock, Clock::time_point deadline, const std::stop_token& stop);
  /// Blocks until a lock is gone; false when it is not by the deadline, or on a stop.
  bool await_gone(const Lock& lock, Clock::time_point deadline, const std::stop_token& stop);

  /// Those that are not gone, in the order in which they were asked for.
  std::vector<std::shared_ptr<Lock>> locks() const;
  /// The lock with this path, or with a node of this path; null when there is none.
  std::shared_ptr<Lock> find(const std::string& path) const;
  /// Takes a lock that was lost off the list of those that `unlock` must be told of. Its nodes,
  /// which keep others waiting for nobody while the session lasts, are removed all the same when a
  /// server answers again.
  void forget(const Lock& lock);

  /// For who is about to end the session by hand: ends the programs that run under locks and gives
  /// these back. Blocks until that is done, half of the session timeout and 3 s at most. Throws
  /// Cancelled on a stop.
  void end_programs(const std::stop_token& stop);
  /// Releases everything, for at most `patience`; the end of the session does the rest. Says what
  /// was released. To be called before the client is closed.
  void close(std::chrono::milliseconds patience);

  /// Prints a line for the user; never blocks.
  void say(const std::string& line) const { teller_.say(line); }
  /// Takes what a program in the background prints; null: it prints itself.
  CarriedOutput* output() const { return teller_.output; }
  /// The nodes that guard a write which is sent now: of every lock with LockPlan::guard, from when
  /// it is held until it was given back. One that was lost guards until `unlock` takes note of it:
  /// writes must not go through again without a word.
  GuardedClient::Guards guards(const Monitor::Held& held) const;
  /// For who is about to stop this process: that the locks last for the session timeout at most.
  /// Empty when none is held.
  std::string stop_warning() const;
  /// "locked /a, /b" or "": for the prompt.
  std::string summary() const;

 private:
  void serve(const std::stop_token& stop);

  Monitor& monitor_;
  Client& client_;
  Teller teller_;
  LockChecks checks_;
  Guarded<std::vector<std::shared_ptr<Lock>>> locks_;
  std::unique_ptr<CircleWatch> circles_;
  std::jthread thread_;  ///< started by the first lock
};

}  // namespace zksh
