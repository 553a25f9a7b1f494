// LockCommand: the way to take and hold a lock that the commands which take one share.
#pragma once

#include "command/command.h"
#include "lock/lock_manager.h"
#include "lock/lock_options.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace zksh {

/// One of the ways to lock.
struct LockTarget {
  std::vector<std::string> paths;
  std::string kind;  ///< as LockPlan::kind
  LockRequest request{};
  std::size_t leases = 0;  ///< of a semaphore: how many are to be taken
  /// Makes the recipe from the finished request; empty: the one that --recipe names.
  std::function<std::unique_ptr<Recipe>(Client&, Fiber&, const LockReport&, const LockRequest&)>
      recipe{};
};

/// One side of a read/write lock.
LockTarget read_write_target(const std::string& path, LockMode mode);

/// Takes the lock and does under it what the options say: runs a program, holds, or leaves it to
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
