// OwnLocks: the locks that this shell holds and waits for, as people and programs see them.
#pragma once

#include "base/json.h"
#include "lock/lock_manager.h"

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace zksh {

using OwnLocks = std::vector<std::shared_ptr<Lock>>;

/// Their paths.
std::set<std::string> paths_of(const OwnLocks& locks);
/// The nodes of those under which a program runs: they go when it ends, whatever is waited for.
std::set<std::string> occupied_nodes(const OwnLocks& locks);

/// A table, escaped for a terminal, that fits `columns`; 0: as wide as it needs to be. None when
/// there are no locks.
std::vector<std::string> own_locks_table(const OwnLocks& locks, std::size_t columns, bool ascii);
/// One line a lock, its fields separated by tabs, escaped: state, kind, token, session, paths, and
/// the nodes.
std::vector<std::string> plain_own_locks(const OwnLocks& locks);
/// The schema is in the help of `locks`.
Json own_lock_json(const Lock& lock);

}  // namespace zksh
