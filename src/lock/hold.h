// LockHold: holds a lock without a program, in the foreground or in a detached process.
#pragma once

#include "base/json.h"
#include "command/command.h"
#include "lock/lock.h"
#include "lock/manager.h"

#include <string>
#include <utility>
#include <vector>

namespace zksh {

/// For -o json: the lock's node, and its token, or the tokens of several locks.
Json holding_json(const Holding& holding);

/// Writes the fencing token of a held lock to a file if its options say so, prints its node, and
/// holds the lock until a stop, the end of --hold-for, a request to release it, or (in a command
/// from the arguments) the end of standard input, whose contents are discarded. Then releases the
/// lock. Returns 0, or 76, with a line on stderr, if the lock was lost. Throws Error if the token
/// file cannot be written, Cancelled after a stop; the lock is released then.
int hold_lock(Context& cx, Lock& lock);

/// Starts a detached zksh that runs the same command with --until-signal, waits until it holds the
/// lock, prints "NODE PID", or for -o json an object, and returns 0. That zksh outlives this one,
/// until SIGTERM or `unlock NODE`. If it does not get the lock, returns its exit status. Its
/// messages until then go to stderr. A stop ends it. Throws Error. It gets this session's
/// credentials through a pipe, so they are not visible in its arguments. The client must be
/// connected.
int detach_lock(Context& cx, const LockOptions& options);

/// Releases a lock as LockManager::give_back does, at the latest in the destructor. Before that,
/// calls Lock::vacate, in case its owner has called Lock::occupy for a program.
class ScopedLock {
 public:
  ScopedLock(LockManager& locks, Lock& lock) : locks_(locks), lock_(&lock) {}
  ScopedLock(const ScopedLock&) = delete;
  ScopedLock& operator=(const ScopedLock&) = delete;
  ~ScopedLock() { give_back(); }

  void give_back() {
    if (lock_ == nullptr) return;
    lock_->vacate();
    locks_.give_back(*std::exchange(lock_, nullptr));
  }

 private:
  LockManager& locks_;
  Lock* lock_;
};

/// Writes the token of a held lock (for several locks, the tokens) and a newline to the file that
/// its options name, if any. A file is replaced atomically, so that nobody reads a partial token,
/// and remains after the lock's end: tokens are never reused. If it exists and is not a regular
/// file, such as a pipe, writes to it; that waits for a reader, but only while the lock is wanted,
/// and then returns false. Throws Error, and Cancelled on a stop.
bool write_token_file(const Context& cx, const Lock& lock);

}  // namespace zksh
