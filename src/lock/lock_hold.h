// LockHold: holds a lock without a program, in the foreground or in a detached process.
#pragma once

#include "command/command.h"
#include "lock/lock_manager.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zksh {

/// Whether the end of standard input ends the hold.
enum class HoldInput {
  Never,
  IfMeaningful,  ///< if it is a pipe, a socket or a terminal
  Always,        ///< also a file, a device or a closed input, which end at once
};

struct LockHold {
  std::optional<std::chrono::milliseconds> duration{};  ///< nullopt: no limit
  std::string token_file{};  ///< receives the fencing token before the node is printed; empty: none
  bool quiet = false;        ///< do not report a normal release
  HoldInput input = HoldInput::Never;
};

/// Prints the node of a held lock, and holds the lock until a stop, the end of the duration, a
/// request to release it, or the end of standard input, whose contents are discarded. Then releases
/// the lock. Returns 0, or 76, with a line on stderr, if the lock was lost. Throws Error if the
/// token file cannot be written, Cancelled after a stop; the lock is released then.
int hold_lock(Context& cx, LockManager& locks, Lock& lock, const LockHold& hold);

/// Starts a detached zksh that runs the same command with --until-signal, waits until it holds the
/// lock, prints "NODE PID" and returns 0. That zksh outlives this one, until SIGTERM or `unlock
/// NODE`. If it does not get the lock, returns its exit status. Its messages until then go to
/// stderr. A stop ends it. Throws Error. `command` has the words as given, the command's name
/// first; --detach is removed. It gets this session's credentials through a pipe, so they are not
/// visible in its arguments. The client must be connected.
int detach_lock(Context& cx, const std::vector<std::string>& command);

/// Releases a lock, at the latest in the destructor. If no server answers, waits only for a limited
/// time; the manager continues, and in the end the session's end releases the lock.
class HeldLock {
 public:
  HeldLock(LockManager& locks, Lock& lock) : locks_(locks), lock_(&lock) {}
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;
  ~HeldLock() {
    if (lock_ != nullptr) give_back();
  }

  /// Must be called at most once.
  void give_back() {
    constexpr std::chrono::seconds patience{3};
    lock_->release();
    locks_.await_gone(*std::exchange(lock_, nullptr), Clock::now() + patience, {});
  }

 private:
  LockManager& locks_;
  Lock* lock_;
};

/// Keeps a lock from being given back while a program runs under it.
class OccupiedLock {
 public:
  explicit OccupiedLock(Lock& lock) : lock_(lock), occupied_(lock.occupy()) {}
  OccupiedLock(const OccupiedLock&) = delete;
  OccupiedLock& operator=(const OccupiedLock&) = delete;
  ~OccupiedLock() { vacate(); }

  /// False if the lock was lost or given back before.
  explicit operator bool() const { return occupied_; }
  void vacate() {
    if (std::exchange(occupied_, false)) lock_.vacate();
  }

 private:
  Lock& lock_;
  bool occupied_;
};

}  // namespace zksh
