// LockCommand: what the commands that take a lock share: their options, and the way to hold.
#pragma once

#include "command.h"
#include "lock_table.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zksh {

/// The options of lock, rwlock, semaphore and multilock; there is one at a time.
struct LockOptions {  // NOLINT(clang-analyzer-optin.performance.Padding): in the order of the help
  bool try_only = false;
  std::optional<std::string> wait;
  std::optional<std::int32_t> busy_code;
  std::optional<std::string> shell;
  std::vector<std::string> program;
  std::optional<std::string> id;
  std::optional<std::string> token_file;
  bool hold = false;
  std::optional<std::string> hold_for;
  bool detach = false;
  std::optional<std::string> on_lost;
  std::optional<std::string> grace;
  std::optional<std::string> on_revoke;
  bool guard = false;
  std::optional<std::string> compat;
  std::optional<std::string> parent;
  std::optional<std::string> recipe;
  bool no_requeue = false;
  bool nest = false;
  bool quiet = false;
  bool verbose = false;
};

/// `names`: the lock goes by contender names (not a semaphore): --compat, --recipe make sense.
void declare_lock_options(Options& options, LockOptions& into, bool names);

/// One of the ways to lock.
struct LockTarget {
  std::vector<std::string> paths;
  std::string kind;  ///< as LockPlan::kind
  LockRequest request{};
  std::size_t leases = 0;  ///< of a semaphore: how many are to be taken
  /// Makes the recipe from the finished request; empty: the one that --recipe names.
  std::function<std::unique_ptr<Recipe>(Client&, Strand&, const LockReport&, const LockRequest&)>
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

/// "host=db1 pid=4711 user=ops cmd="nightly.sh" via=zksh/1.0": what contenders are shown by; with
/// --id "TEXT via=zksh/1.0".
std::string lock_owner(const LockOptions& options);

}  // namespace zksh
