// File: file names that begin with ~, and reading whole files.
#pragma once

#include <string>

namespace zksh {

/// Replaces the ~ in "~/x" by $HOME. Any other name is returned unchanged, as are all if $HOME is
/// not set.
std::string with_home(std::string name);

/// Reads a descriptor to its end; `name` is for messages. Blocks. Throws UsageError if it cannot be
/// read or holds more than 64 MiB, far more than a server accepts as a value.
std::string read_all(int fd, const std::string& name);
/// Reads a whole file. Throws as read_all.
std::string read_file(const std::string& name);

}  // namespace zksh
