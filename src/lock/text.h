// LockText: one-line messages about locks, and tables of this shell's locks.
#pragma once

#include "base/json.h"
#include "lock/lock.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// Who requests the release, if the data are from zksh's `revoke`; else empty.
std::string asker_in_line(const Data& data);

/// The fencing tokens, one for each path: "614313" or "614313 614320".
std::string tokens_text(const Holding& holding, std::string_view separator = " ");
/// A fencing token as -o json writes transaction IDs: "0x95fa9"; null if it is not known.
Json token_json(std::int64_t token);

/// The owner data of a contender for one line, as short_owner names it.
std::string owner_in_line(const std::string& data);
/// "acquired /p  token=614313  node=_c_…-lock-0000000004  waited=3.214s"
std::string acquired_line(const Lock& lock, const LockStatus& status);
/// "released /p  held=12.301s"
std::string released_line(const Lock& lock, const LockStatus& status);
/// What to say of a lock that was waited for and given up, but whose node may not be deleted; empty
/// if it has left the queue.
std::string stays_queued_line(const Lock& lock, const LockStatus& status);
/// "waiting /p: 3rd of 3, behind ops@db1 … (first: ops@db2 …, has held it for at most 41.0 s)"
std::string waiting_line(const std::string& path, const QueuePlace& place);

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
