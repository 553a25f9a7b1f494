// Lock: a lock that this process holds or waits for.
#pragma once

#include "base/carried_output.h"
#include "base/monitor.h"
#include "base/process.h"
#include "base/time.h"
#include "client/watch.h"
#include "lock/options.h"
#include "lock/view.h"
#include "recipes/recipe.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace zksh {

class Client;
class LockChecks;
struct WriteGuard;

/// How locks are reported and shown. Both functions are called from any thread, and do not block.
struct LockConsole {
  std::function<void(const std::string& line)> say;  ///< prints a line for the user
  std::function<void()> changed;  ///< the summary may have changed; null if it is not shown
  /// Receives what programs print while a line is being edited; null if none is: they print
  /// directly. Must outlive all locks.
  CarriedOutput* output = nullptr;
  bool quiet = false;  ///< zksh was started with -q: as if each lock command had -q
};

/// The state of a lock; a copy.
struct LockStatus {
  enum class Stage {
    Asking,   ///< its first request has been sent
    Waiting,  ///< in the queue
    Held,
    Suspended,  ///< held, but no server answers; safe until its lease ends
    Releasing,  ///< its nodes are being removed
    // It is gone:
    Released,
    Lost,     ///< somebody else may have held it before it was given back
    Stuck,    ///< released, but its nodes may not be removed, and remain until the session ends
    Refused,  ///< busy, interrupted, or an error before it was held; nothing is left
  };

  Stage stage = Stage::Asking;
  std::string kind{};  ///< as kind_of; changes with a downgrade
  QueuePlace place{};  ///< while Waiting
  /// While Waiting: the deadlock that keeps it waiting, if one was found (DeadlockWatch).
  std::optional<Deadlock> deadlock{};
  Holding holding{};  ///< from Held on
  Clock::time_point asked{};
  Clock::time_point held{};    ///< since when, from Held on
  Clock::time_point ended{};   ///< when it was gone
  Lease lease{};               ///< the session's: no server gives the lock away before its end
  bool revoked = false;        ///< somebody requested its release
  bool occupied = false;       ///< a program runs under it
  bool unwanted = false;       ///< this shell wants to release it, once no program runs under it
  int nested = 1;              ///< how often this shell has locked it
  bool forgotten = false;      ///< for Lost: its owner knows; its remaining nodes are still removed
  bool closed_here = false;    ///< for Lost: this shell has closed the session
  std::string reason{};        ///< for Lost, for the user: "the session expired"
  std::exception_ptr error{};  ///< for Refused

  bool is_held() const { return stage == Stage::Held || stage == Stage::Suspended; }
  bool is_gone() const { return stage >= Stage::Released; }
  /// Whether its keeper is to give it back, or to leave the queue.
  bool must_go() const { return unwanted && !occupied; }
};

/// What is requested, for the user: exclusive, read, write, "semaphore of 3".
std::string kind_of(const LockRequest& request);

/// A lock of this process. Members may be called from any thread, but not under the Monitor.
class Lock {
 public:
  /// A lock to request.
  struct Plan {
    LockRequest request;
    LockOptions options{};
    Clock::time_point deadline = Fiber::never;
    /// Whether it was requested in the background: Ctrl-C does not affect it.
    std::function<bool()> in_background = [] { return false; };
  };

  Lock(Monitor& monitor, Plan plan, LockConsole reporter);
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  /// Blocks until the command for a loss has ended.
  ~Lock() = default;

  const Plan& plan() const { return plan_; }
  const LockOptions& options() const { return plan_.options; }
  const std::vector<std::string>& paths() const { return plan_.request.paths; }
  /// "/a" or "/a /b".
  std::string name() const;
  /// Whether this is one of its paths.
  bool is_at(const std::string& path) const {
    return std::ranges::find(paths(), path) != paths().end();
  }
  LockStatus status() const;
  const LockStatus& status(const Monitor::Held& held) const { return status_(held); }
  bool is_gone(const Monitor::Held& held) const { return status_(held).is_gone(); }
  /// Its nodes, which guard writes that are sent under it.
  std::vector<WriteGuard> guards(const Monitor::Held& held) const;
  /// Whether it is held, and its release is not requested.
  bool is_wanted(const Monitor::Held& held) const;
  /// What describes the lock to a program, see run_under_lock.
  std::vector<std::pair<std::string, std::string>> environment() const;

  /// Gives the lock back, or leaves the queue; returns at once. Does nothing if it is gone. While a
  /// program runs under it, it is only unwanted: the program must end, and it is given back after
  /// `vacate`.
  void release();
  /// Call before a program starts under it; false if the lock is not held, or is unwanted: then it
  /// may be given back at any time. It is not given back before `vacate`, which must follow.
  bool occupy();
  void vacate();
  /// Starts the options' command for a loss, unless started before; returns at once. It runs apart
  /// from the program under the lock, whose end it must not delay, on a thread of its own, with an
  /// empty standard input and a process group of its own. What is left of it is killed after 10 s.
  void run_loss_command(const std::string& reason);
  bool loss_command_runs(const Monitor::Held& held) const {
    return loss_command_begun_(held) && !loss_command_ended_(held);
  }
  /// Turns a write lock into a read lock; blocks until that is done. Rethrows errors; throws
  /// ValueError if it is not held.
  void downgrade(const std::stop_token& stop);
  /// Counts another lock operation; false if the lock is not held, or is being given back.
  bool nest();
  /// Undoes a nest; false if it was nested, and so is still held.
  bool unnest();

 private:
  friend class LockManager;
  friend class DeadlockWatch;

  /// What runs in `keep` (lock/keeper.cpp).
  class Keeper;
  /// Requests the lock, holds it, proves repeatedly that it is still held, gives it back on
  /// request, and maintains its status. Does not throw. The lock, the client and the checks must
  /// outlive the task, which runs on the lock's fiber.
  Task<> keep(Client& client, LockChecks& checks);

  /// Set when a downgrade is done; the error is null if it succeeded.
  using Downgrade = Guarded<std::optional<std::exception_ptr>>;

  void run(Program loss_command) const;

  Monitor& monitor_;
  Plan plan_;
  LockConsole reporter_;
  Fiber fiber_;
  Guarded<LockStatus> status_;
  Guarded<std::shared_ptr<Downgrade>> downgrade_;  ///< requested, and not begun
  Guarded<bool> loss_command_begun_;
  Guarded<bool> loss_command_ended_;
  std::jthread loss_thread_;  ///< last: it uses the others
};

}  // namespace zksh
