// TokenFile: a fencing token in a file.
#pragma once

#include "lock/lock_manager.h"

#include <stop_token>
#include <string>

namespace zksh {

/// Whether a lock is held, and nobody wants it back.
bool is_wanted(const Lock& lock, const Monitor::Held& held);

/// Writes the token of a lock that is held (of several locks: the tokens) and a newline. A file is
/// replaced at once, so that nobody reads half of a token, and stays there after the lock's end: a
/// token never comes back. What exists and is no file (a pipe) is written to; that waits for a
/// reader, but only while the lock is wanted: false after that. Throws Error, and Cancelled on a
/// stop.
bool write_token_file(const std::string& file, const Lock& lock, Monitor& monitor,
                      const std::stop_token& stop);

}  // namespace zksh
