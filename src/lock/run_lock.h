// run_lock: takes and holds a lock; shared by all commands that take one.
#pragma once

#include "command/command.h"
#include "lock/manager.h"
#include "lock/options.h"

namespace zksh {

/// Takes the lock that is requested, as the options say, and then runs a program, holds the lock,
/// or leaves it to the shell. Blocks; returns the exit status. Throws Error.
int run_lock(Context& cx, LockOptions options, LockRequest request);

}  // namespace zksh
