// LockOptions: the options shared by the commands that take a lock.
#pragma once

#include "command/command.h"
#include "command/options.h"
#include "lock/deadlines.h"
#include "recipes/recipe.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zksh {

enum class OnRevoke { Release, Ignore, Run };

/// The options of lock, rwlock, semaphore and multilock.
struct LockOptions {  // NOLINT(clang-analyzer-optin.performance.Padding): in the order of the help
  bool try_only = false;
  std::optional<std::chrono::milliseconds> wait;
  std::optional<std::int32_t> busy_code;
  std::optional<std::string> shell;
  std::vector<std::string> program;
  std::optional<std::string> id;
  std::optional<std::string> token_file;
  bool hold = false;
  std::optional<std::chrono::milliseconds> hold_for;
  bool until_signal = false;
  bool detach = false;
  std::optional<OnLost> on_lost;
  std::optional<std::string> lost_command;  ///< also from --on-lost, run by $SHELL -c
  std::optional<std::chrono::milliseconds> grace;
  bool release_early = false;
  std::optional<std::chrono::milliseconds> at_least;
  std::optional<std::string> once;
  std::optional<OnRevoke> on_revoke;
  std::optional<std::string> revoke_command;  ///< also from --on-revoke, likewise
  bool guard = false;  ///< its nodes guard this shell's writes (GuardedClient)
  std::optional<Compat> compat;
  std::optional<CreateMode> parent;
  std::optional<std::string> acl;
  std::optional<RecipeKind> recipe;
  bool no_requeue = false;
  bool force = false;
  bool nest = false;
  bool quiet = false;
  bool verbose = false;

  bool runs_program() const { return !program.empty() || shell; }
  /// Whether the command itself holds the lock while it runs, without a program.
  bool holds() const { return hold || hold_for || until_signal; }
  /// Whether the command waits for the lock's end, in one of these ways.
  bool is_awaited() const { return runs_program() || holds(); }
  /// What to do when somebody asks for the lock.
  OnRevoke when_revoked() const {
    return revoke_command ? OnRevoke::Run : on_revoke.value_or(OnRevoke::Release);
  }
};

/// Who can hold a command's lock at a time.
enum class Holders { One, Readers, Leases };
/// Only for One there is --once. A semaphore has no contender names: neither --compat nor --recipe.
void declare_lock_options(Options& options, LockOptions& into, Holders holders);

/// --acl.
void declare_lock_acl(Options& options, std::optional<std::string>& into);
/// The ACL that the option gives, or else the setting lock-acl. Throws as acl_argument.
Acl lock_acl(Context& cx, const std::optional<std::string>& option, const std::string& path,
             bool force);

/// Throws UsageError for options that contradict each other or the request, and for an invalid
/// status.
void check_lock_options(const LockOptions& options, const LockRequest& request);

/// The name of the program that runs under the lock, without its arguments: its first word; for a
/// shell's text, the base name of the program that it begins with, or "sh".
std::string program_name(const LockOptions& options);

/// The owner data that identify a contender to people: "host=db1 pid=4711 user=ops cmd="nightly.sh"
/// via=zksh/1.0"; with --id "TEXT via=zksh/1.0".
std::string lock_owner(const LockOptions& options);

}  // namespace zksh
