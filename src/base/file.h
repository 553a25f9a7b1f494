// File: names that begin with ~, and whole files.
#pragma once

#include <string>

namespace zksh {

/// "~/x" with $HOME in the place of the ~; any other name, and all of them without a $HOME, as it
/// is.
std::string with_home(std::string name);

/// All bytes of a descriptor up to its end; `name` is for messages. Blocks. Throws UsageError when
/// it cannot be read or holds more than 64 MiB, which is far above what a server takes as a value.
std::string read_all(int fd, const std::string& name);
/// All bytes of a file. Throws as read_all.
std::string read_file(const std::string& name);

}  // namespace zksh
