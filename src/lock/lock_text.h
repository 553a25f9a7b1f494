// LockText: what people are told of a lock, a line each.
#pragma once

#include "lock/lock_manager.h"

#include <string>
#include <string_view>

namespace zksh {

/// Whether a contender's node says that it is to release: Curator's word, and that of the recipe in
/// ZooKeeper's documentation.
bool asks_for_release(const Data& data);

/// Who asks so, as data of zksh's `revoke` say; empty: they do not.
std::string asker_in_line(const Data& data);

/// The fencing tokens, one for each path: "614313" or "614313 614320".
std::string tokens_text(const LockHolding& holding, std::string_view separator = " ");

/// The data of a contender's node for one line: of zksh's own format, what tells it from others.
std::string owner_in_line(const std::string& data);
/// "acquired /p  token=614313  node=_c_…-lock-0000000004  waited=3.214s"
std::string acquired_line(const Lock& lock, const LockStatus& status);
/// "released /p  held=12.301s"
std::string released_line(const Lock& lock, const LockStatus& status);
/// "waiting /p: 3rd of 3, behind host=db1 … (first: host=db2 …, holds it for 41.0 s at most)"
std::string waiting_line(const std::string& path, const LockPlace& place);

}  // namespace zksh
