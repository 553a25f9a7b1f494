// LockCommand: takes and holds a lock; shared by all commands that take one.
#pragma once

#include "command/command.h"
#include "lock/lock_manager.h"
#include "lock/lock_options.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace zksh {

/// What to lock, and how.
struct LockTarget {
  std::vector<std::string> paths;
  std::string kind;  ///< as LockPlan::kind
  LockRequest request{};
  std::size_t leases = 0;  ///< for a semaphore: how many leases to take
  /// Creates the recipe for the completed request; empty: use the one of --recipe.
  std::function<std::unique_ptr<Recipe>(Client&, Fiber&, const LockReport&, const LockRequest&)>
      recipe{};
};

/// One side of a read/write lock.
LockTarget read_write_target(const std::string& path, LockMode mode);

/// Takes the lock, and then, as the options say, runs a program, holds the lock, or leaves it to
/// the shell. Blocks; returns the exit status. Throws Error.
int run_lock(Context& cx, const LockOptions& options, LockTarget target);

/// The arguments of a command for one side of a read/write lock.
struct LockSide {
  std::string path;
  LockOptions lock;
};
void declare_lock_side(Options& options, LockSide& into);
/// As run_lock.
int run_lock_side(Context& cx, const LockSide& side, LockMode mode);

}  // namespace zksh
