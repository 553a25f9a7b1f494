// LockManager: the locks that this process holds or waits for, each managed by a task.
#pragma once

#include "command/command.h"
#include "lock/keeper.h"
#include "lock/lock.h"

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace zksh {

class DeadlockWatch;
class Client;

/// Owns the thread that drives the locks' tasks, proves twelve times in each session timeout
/// that they are still held, and reports what happens to them. Members may be called from any
/// thread, but not under the Monitor.
class LockManager {
 public:
  LockManager(Client& client, LockConsole reporter);
  LockManager(const LockManager&) = delete;
  LockManager& operator=(const LockManager&) = delete;
  /// As `close`, without waiting.
  ~LockManager();

  /// Starts the thread, so that `ask` need not: for callers that wait for something else anyway,
  /// such as the connection. Throws std::system_error, as `ask` does, if there is no thread left.
  void prepare();
  /// Starts to request a lock, and returns at once. Throws UsageError if this process already has a
  /// lock, or waits for one, on one of the paths: it would wait for itself.
  std::shared_ptr<Lock> ask(Lock::Plan plan);
  /// Blocks until the lock is held or gone; false if it is neither at the deadline. Throws
  /// Cancelled on a stop. In both cases the request continues.
  bool await_held(const Lock& lock, Clock::time_point deadline, const std::stop_token& stop);
  /// Blocks until the lock is gone; false at the deadline, or on a stop.
  bool await_gone(const Lock& lock, Clock::time_point deadline, const std::stop_token& stop);

  /// The locks that are not gone, in the order in which they were requested.
  std::vector<std::shared_ptr<Lock>> locks() const;
  /// The lock with this path or this node's path; null if there is none.
  std::shared_ptr<Lock> find(const std::string& path) const;
  /// Releases a lock under which no program runs any more. If no server answers, waits for 3 s; the
  /// manager continues, and in the end the session's end releases the lock.
  void give_back(Lock& lock);
  /// What a script must not ignore: a lock that was lost, and neither confirmed by `unlock` nor
  /// ended by a `close` or `connect` of this shell; null if there is none.
  std::shared_ptr<Lock> lost_lock() const;
  /// Removes a lost lock from those that need an `unlock`. Its nodes, for which others wait in vain
  /// while the session lasts, are still removed when a server answers again.
  void forget(Lock& lock);

  /// Call before ending the session by hand: ends the programs under locks and gives the locks
  /// back. Blocks until that is done, for at most half of the session timeout and 3 s. Throws
  /// Cancelled on a stop.
  void end_programs(const std::stop_token& stop);
  /// Releases all locks and reports that. Blocks for at most `patience`; the session's end does the
  /// rest. Call before closing the client.
  void close(std::chrono::milliseconds patience);
  /// Blocks until the commands for lost locks have ended (Lock::run_loss_command), and have said
  /// why they could not run.
  void await_loss_commands() const;

  /// Prints a line for the user; never blocks.
  void say(const std::string& line) const { reporter_.say(line); }
  bool quiet() const { return reporter_.quiet; }
  /// Receives what a background program prints; null: it prints directly.
  CarriedOutput* output() const { return reporter_.output; }
  /// The nodes that guard a write sent now: those of every held lock with LockOptions::guard. A
  /// lost lock guards until `unlock` acknowledges it: writes must not silently succeed again.
  std::vector<WriteGuard> guards(const Monitor::Held& held) const;
  /// A warning, before this process is stopped, that the locks then last for the session timeout at
  /// most. Empty if none is held.
  std::string stop_warning() const;
  /// "locked /a, /b" or "", for the prompt.
  std::string summary() const;

 private:
  void start(const Monitor::Held& held);
  void serve(const std::stop_token& stop);

  Monitor& monitor_;
  Client& client_;
  LockConsole reporter_;
  LockChecks checks_;
  Guarded<std::vector<std::shared_ptr<Lock>>> locks_;
  std::unique_ptr<DeadlockWatch> deadlocks_;
  std::jthread thread_;  ///< started by `prepare` or the first lock
};

/// Whether to end the session although that ends locks of this shell, or jobs: asks at a terminal.
/// Blocks until the answer. Throws ValueError naming the locks in a script (not on piped input),
/// unless `force`; Cancelled on a stop.
bool may_end_session(const Context& cx, bool force);

/// Drops the open transaction, and ends jobs and the programs under locks, which print their own
/// messages. Blocks until they have ended. Throws Cancelled on a stop.
void end_work_of_session(Context& cx);

}  // namespace zksh
