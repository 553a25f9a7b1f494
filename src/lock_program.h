// LockProgram: a program that runs under a lock, and is dead before another can hold the lock.
#pragma once

#include "command.h"
#include "lock_table.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zksh {

/// What becomes of the program when its lock is lost, or may be lost soon.
enum class OnLost {
  Kill,       ///< SIGKILL
  Terminate,  ///< SIGTERM, and SIGKILL after the grace
  Warn,       ///< it runs on; zksh only says so
};

/// What to run under a lock, and how.
struct LockProgram {
  std::vector<std::string> words{};  ///< the program and its arguments; empty: `shell_text`
  std::string shell_text{};          ///< run by $SHELL -c, or /bin/sh -c where that is not set
  OnLost on_lost = OnLost::Terminate;
  /// From SIGTERM to SIGKILL; nothing: 5 s or a sixth of the session timeout, what is less. More
  /// than half of the session timeout is cut down to that, with a warning.
  std::optional<std::chrono::milliseconds> grace{};
  std::string token_file{};  ///< gets the fencing token before the program starts; empty: none
  std::vector<std::pair<std::string, std::string>> environment{};  ///< besides ZKSH_LOCK_*
};

/// Throws Error with status 127 or 126 when the program is missing or cannot be run: to be called
/// before its lock is waited for.
void check_program(const LockProgram& program);

/// Runs a program under a lock that is held (plan.program is set), releases the lock when the
/// program has ended, and returns the exit status: the program's own (128 + n: ended by signal n),
/// or 76, with a line on stderr, when the lock was lost, whatever the program returned. Throws
/// Error with 126, 127, or 1 (the token file), when the program cannot be started: the lock is
/// released. Blocks until the program has ended; a stop ends it as SIGTERM to zksh does.
///
/// The program gets zksh's standard streams and, when zksh has it, the terminal; it is the leader
/// of a process group of its own. In its environment: ZKSH_LOCK_PATH, ZKSH_LOCK_NODE (of a
/// multi-lock: all, separated by blanks), ZKSH_LOCK_TOKEN, ZKSH_LOCK_MODE, ZKSH_LOCK_SESSION (0x…)
/// and ZKSH_LOCK_DEADLINE_MS: when no server answers any more, the program is dead that many
/// milliseconds after the last answer.
int run_under_lock(Context& cx, LockTable& table, Lock& lock, const LockProgram& program);

}  // namespace zksh
