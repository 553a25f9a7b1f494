// WatchdogProcess: the process that a LockWatchdog forks.
#pragma once

#include "base/process.h"

#include <sys/types.h>

namespace zksh {

struct WatchdogMemory;

/// Forks it, and returns its process id; it goes by what the memory says, and is woken through the
/// socket. All signals must be blocked. Throws std::system_error.
pid_t fork_watchdog(WatchdogMemory& memory, const Program& program, int socket);

}  // namespace zksh
