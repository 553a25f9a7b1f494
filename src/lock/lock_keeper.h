// LockKeeper: what is done with one lock from asking for it to its end.
#pragma once

#include "lock/lock_checks.h"
#include "lock/lock_manager.h"

namespace zksh {

/// The task of a lock: asks, holds it and proves again and again that it is still held, gives it
/// back when that is wished, and keeps its status. It throws nothing. The lock, the client
/// and the checks outlive it; for the fiber of the lock.
Task<> keep_lock(Client& client, Lock& lock, LockManager::Teller teller, LockChecks& checks);

}  // namespace zksh
