// OwnLocks: formats the locks that this shell holds and waits for.
#pragma once

#include "base/json.h"
#include "lock/lock.h"

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

using OwnLocks = std::vector<std::shared_ptr<Lock>>;

/// As `locks` names it: asking, waits, holds, suspended, releasing, lost, gone.
std::string_view state_of(const LockStatus& status);
/// The locks' paths.
std::set<std::string> paths_of(const OwnLocks& locks);
/// The nodes of locks with a running program: they go when it ends, whatever the shell waits for.
std::set<std::string> occupied_nodes(const OwnLocks& locks);

/// A table, escaped for a terminal, that fits `columns` (0: no limit). Empty if there are no locks.
std::vector<std::string> own_locks_table(const OwnLocks& locks, std::size_t columns, bool ascii);
/// A line per lock, with tab-separated, escaped fields: state, kind, token, session, paths, and the
/// nodes.
std::vector<std::string> plain_own_locks(const OwnLocks& locks);
/// The help of `locks` describes the fields.
Json own_lock_json(const Lock& lock);

}  // namespace zksh
