// LockKeeper: the task of a lock, from the request to the release.
#pragma once

#include "lock/checks.h"
#include "lock/manager.h"

namespace zksh {

/// Requests the lock, holds it, proves repeatedly that it is still held, gives it back on request,
/// and maintains its status. Does not throw. The lock, the client and the checks must outlive the
/// task, which runs on the lock's fiber.
Task<> keep_lock(Client& client, Lock& lock, LockConsole reporter, LockChecks& checks);

}  // namespace zksh
