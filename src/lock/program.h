// LockProgram: runs a program under a lock, and ensures that it is dead before another can hold the
// lock.
#pragma once

#include "command/command.h"
#include "lock/options.h"
#include "lock/watchdog.h"

#include <functional>
#include <memory>

namespace zksh {

class Lock;

/// Forks the watchdog that will start the program. Call it before requesting the lock, so that the
/// fork costs no time later, and a program that cannot be run is reported before anybody waits.
/// Throws Error with status 127 or 126 if the program is missing or not executable,
/// std::system_error if no process can be created.
std::unique_ptr<LockWatchdog> watch_program(Context& cx, const LockOptions& options);

/// Runs a program under a held lock (whose options name it). Releases the lock when the last
/// descendant of the program has ended (with --release-early: the program itself), but not before
/// --at-least. Returns the program's exit status (128 + n: ended by signal n); or, whatever that
/// is, 76, with a line on stderr, if the lock was lost, or the program was killed because it might
/// have been. If the lock is lost or unwanted before the program has started, it is not started.
/// Throws Error with 126, 127, or 1 (the token file) if the program cannot be started; the
/// lock is released then. Blocks. `after_success`, which may be empty, is called while the lock is
/// held, if the program has ended with 0 and was not told to end; if it throws Error, the lock is
/// given back.
///
/// The program gets zksh's standard streams, but an empty input if zksh's own commands come from
/// standard input or the command runs in the background; the other descriptors that zksh was
/// started with; and the terminal, if zksh has it. It leads its own process group. Its environment
/// has ZKSH_LOCK_PATH, ZKSH_LOCK_NODE (for a multi-lock all, separated by blanks), ZKSH_LOCK_TOKEN,
/// ZKSH_LOCK_MODE, ZKSH_LOCK_SESSION (0x…) and ZKSH_LOCK_DEADLINE_MS: if servers stop answering,
/// the program is dead that many milliseconds after the last answer.
///
/// Signals that would end zksh go to the group instead; a second SIGTERM (see
/// one_signal) becomes SIGKILL for everything. A stop of the command, or a request to release the
/// lock that is to be heeded, ends everything with SIGTERM, and SIGKILL after the grace period; the
/// status is then the program's. Processes left behind after such an end are ended likewise; those
/// that a program leaves when it ends by itself keep running, and are ended by the next such
/// signal. If the terminal stops the program (Ctrl-Z), zksh stops too, and cannot prove the lock;
/// if it is not continued in time, the program is killed. SIGKILL to zksh also ends everything. See
/// ProgramDeadlines and LockWatchdog.
int run_under_lock(Context& cx, Lock& lock, LockWatchdog& watchdog,
                   const std::function<void()>& after_success);

}  // namespace zksh
