// LockProgram: a program that runs under a lock, and is dead before another can hold the lock.
#pragma once

#include "command/command.h"
#include "lock/lock_deadlines.h"
#include "lock/lock_manager.h"
#include "lock/lock_watchdog.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zksh {

/// What to run under a lock, and how.
struct LockProgram {
  std::vector<std::string> words{};  ///< the program and its arguments; empty: `shell_text`
  std::string shell_text{};          ///< run by $SHELL -c, or /bin/sh -c where that is not set
  OnLost on_lost = OnLost::Terminate;
  std::optional<std::chrono::milliseconds> grace{};  ///< as of LockDeadlines
  std::string token_file{};    ///< gets the fencing token before the program starts; empty: none
  bool release_early = false;  ///< what it leaves behind does not keep the lock
  std::chrono::milliseconds at_least{};  ///< how long the lock is kept after it was taken
  /// Called while the lock is held, when the program has ended with 0 and was not told to end. May
  /// throw Error: the lock is given back.
  std::function<void()> after_success{};
  bool quiet = false;  ///< says nothing of a release as it should be
};

/// Forks the watchdog that is to start the program: to be called before its lock is asked for, so
/// that it costs no time then, and so that what cannot be run is told before anybody waits. Throws
/// Error with status 127 or 126 when the program is missing or cannot be run, std::system_error
/// when there is no process left.
std::unique_ptr<LockWatchdog> watch_program(Context& cx, const LockProgram& program);

/// Runs a program under a lock that is held (its plan has `program` set), releases the lock when
/// the last process that descends from it has ended (with `release_early`: when the program itself
/// has), not before `at_least` is over, and returns the exit status: the program's own (128 + n:
/// ended by signal n), or 76, with a line on stderr, when the lock was lost, or could not be told
/// from a lost one and the program was killed for that; then whatever the program returned. A lock
/// that is lost, or wanted back, before the program has started starts none. Throws Error with 126,
/// 127, or 1 (the token file), when the program cannot be started: the lock is released. Blocks
/// until then.
///
/// The program gets zksh's standard streams, but an empty input where zksh's own commands come from
/// standard input or the command is in the background; the other descriptors that zksh was started
/// with; and, when zksh has it, the terminal. It leads a process group of its own. In its
/// environment: ZKSH_LOCK_PATH, ZKSH_LOCK_NODE (of a multi-lock: all, separated by blanks),
/// ZKSH_LOCK_TOKEN, ZKSH_LOCK_MODE, ZKSH_LOCK_SESSION (0x…) and ZKSH_LOCK_DEADLINE_MS: when no
/// server answers any more, the program is dead that many milliseconds after the last answer.
///
/// Signals that would end zksh go to the group instead, the second SIGTERM as SIGKILL to
/// everything; a stop of the command ends everything with SIGTERM, and SIGKILL after the grace, and
/// so does a wish for the lock's release, where it is to be heeded; the status is the program's
/// then. What such an end leaves behind ends in the same way; what a program leaves behind that
/// ends by itself runs on, and is ended by the next such signal. A program that is stopped by its
/// terminal (Ctrl-Z) stops zksh, too, and with it whatever proves the lock: when zksh is continued
/// too late, or not in time, the program is killed. zksh's own end by SIGKILL ends everything as
/// well. See LockDeadlines and LockWatchdog.
int run_under_lock(Context& cx, LockManager& locks, Lock& lock, const LockProgram& program,
                   LockWatchdog& watchdog);

}  // namespace zksh
