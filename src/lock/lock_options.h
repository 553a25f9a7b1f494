// LockOptions: the options that the commands which take a lock share.
#pragma once

#include "command/options.h"

#include <cstdint>
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

/// Throws UsageError for options that contradict each other, and for an impossible status.
void check_lock_options(const LockOptions& options);

/// "host=db1 pid=4711 user=ops cmd="nightly.sh" via=zksh/1.0": what contenders are shown by; with
/// --id "TEXT via=zksh/1.0".
std::string lock_owner(const LockOptions& options);

}  // namespace zksh
