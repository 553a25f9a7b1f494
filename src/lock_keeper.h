// LockKeeper: what is done with one lock from asking for it to its end.
#pragma once

#include "lock_table.h"

#include <string>

namespace zksh {

/// The flow of a lock: asks, holds it and proves again and again that it is still held, gives it
/// back when that is wished, and keeps its status. It throws nothing. The lock and the client
/// outlive it; for the strand of the lock.
Flow<> keep_lock(Client& client, Lock& lock, LockTable::Say say);

/// "acquired /p  token=614313  node=_c_…-lock-0000000004  waited=3.214s"
std::string acquired_line(const Lock& lock, const LockStatus& status);
/// "released /p  held=12.301s"
std::string released_line(const Lock& lock, const LockStatus& status);
/// "waiting /p: 3rd of 3, behind host=db1 … (first: host=db2 …, in the queue for 41.0 s)"
std::string waiting_line(const std::string& path, const LockPlace& place);

}  // namespace zksh
