// TokenFile: writes a fencing token to a file.
#pragma once

#include "lock/lock.h"

#include <stop_token>
#include <string>

namespace zksh {

/// Writes the token of a held lock (for several locks, the tokens) and a newline. A file is
/// replaced atomically, so that nobody reads a partial token, and remains after the lock's end:
/// tokens are never reused. If `file` exists and is not a regular file, such as a pipe, writes to
/// it; that waits for a reader, but only while the lock is wanted, and then returns false. Throws
/// Error, and Cancelled on a stop.
bool write_token_file(const std::string& file, const Lock& lock, Monitor& monitor,
                      const std::stop_token& stop);

}  // namespace zksh
