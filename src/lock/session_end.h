// Session end: what a session takes with it when `connect` or `close` ends it.
#pragma once

#include "command/command.h"

namespace zksh {

/// Whether to end the session although that ends locks of this shell, or jobs: asks at a terminal.
/// Blocks until the answer. Throws ValueError naming the locks in a script (not on piped input),
/// unless `force`; Cancelled on a stop.
bool may_end_session(const Context& cx, bool force);

/// Drops the open transaction, and ends jobs and the programs under locks, in their own words.
/// Blocks until they have ended. Throws Cancelled on a stop.
void end_users_of_session(Context& cx);

}  // namespace zksh
