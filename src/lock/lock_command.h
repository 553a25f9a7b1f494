// LockCommand: takes and holds a lock; shared by all commands that take one.
#pragma once

#include "command/command.h"
#include "lock/lock_manager.h"
#include "lock/lock_options.h"

#include <string>

namespace zksh {

/// Takes the lock that is requested, as the options say, and then runs a program, holds the lock,
/// or leaves it to the shell. Blocks; returns the exit status. Throws Error.
int run_lock(Context& cx, const LockOptions& options, LockRequest request);

/// The arguments of a command for one side of a read/write lock.
struct LockSide {
  std::string path;
  LockOptions lock;
};
void declare_lock_side(Options& options, LockSide& into);
/// As run_lock.
int run_lock_side(Context& cx, const LockSide& side, LockMode mode);

}  // namespace zksh
