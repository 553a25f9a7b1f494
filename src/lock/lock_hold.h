// LockHold: holding a lock without a program, in the foreground or in a process of its own.
#pragma once

#include "command/command.h"
#include "lock/lock_manager.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zksh {

/// Whether the end of the standard input ends it.
enum class HoldInput {
  Never,
  WhereItMeansSomething,  ///< a pipe, a socket or a terminal
  Always,                 ///< a file, a device and a closed input are at their end at once
};

struct LockHold {
  std::optional<std::chrono::milliseconds> duration{};  ///< nothing: without end
  std::string token_file{};  ///< gets the fencing token before the node is printed; empty: none
  bool quiet = false;        ///< says nothing of a release as it should be
  HoldInput input = HoldInput::Never;
};

/// Prints the node of a lock that is held, and holds it until a stop, until the end of the
/// duration, until somebody asks for its release, or until standard input ends. What is read there
/// is thrown away.
/// Then releases the lock. Returns 0, or 76, with a line on stderr, when the lock was lost. Throws
/// Error when the token file cannot be written, Cancelled after a stop; the lock is released then.
int hold_lock(Context& cx, LockManager& locks, Lock& lock, const LockHold& hold);

/// Starts a zksh without a terminal that runs the same command with --until-signal, waits until it
/// holds the lock, prints "NODE PID" and returns 0; that zksh outlives this one, and is ended by
/// SIGTERM or by `unlock NODE`. When it does not come to hold the lock, its exit status is
/// returned; what it says until then goes to stderr. A stop ends it. Throws Error. `command`: the
/// words as they were given, the command's name first; --detach is taken out. That zksh gets this
/// session's credentials through a pipe: nobody sees them in its arguments. There is a connection.
int detach_lock(Context& cx, const std::vector<std::string>& command);

/// Releases a lock at its end at the latest. When no server answers, the release is waited for only
/// so long: the manager goes on with it, and the end of the session does it in the end.
class HeldLock {
 public:
  HeldLock(LockManager& locks, Lock& lock) : locks_(locks), lock_(&lock) {}
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;
  ~HeldLock() {
    if (lock_ != nullptr) give_back();
  }

  /// Once.
  void give_back() {
    constexpr std::chrono::seconds patience{3};
    lock_->release();
    locks_.await_gone(*std::exchange(lock_, nullptr), Clock::now() + patience, {});
  }

 private:
  LockManager& locks_;
  Lock* lock_;
};

/// A lock while a program runs under it: until then it is not given back.
class OccupiedLock {
 public:
  explicit OccupiedLock(Lock& lock) : lock_(lock), occupied_(lock.occupy()) {}
  OccupiedLock(const OccupiedLock&) = delete;
  OccupiedLock& operator=(const OccupiedLock&) = delete;
  ~OccupiedLock() { vacate(); }

  /// False: it is lost, or was given back before it could be occupied.
  explicit operator bool() const { return occupied_; }
  void vacate() {
    if (std::exchange(occupied_, false)) lock_.vacate();
  }

 private:
  Lock& lock_;
  bool occupied_;
};

}  // namespace zksh
