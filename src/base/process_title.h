// ProcessTitle: the command line that others see of this process.
#pragma once

#include <string_view>

namespace zksh {

/// Records where the kernel keeps the command line and the environment, for replace_command_line.
/// Call it once, from main, before anything changes the environment.
void remember_command_line(char** argv);

/// Replaces the command line of this process as `ps` and `pkill -f` see it; cut if there is too
/// little room. It may overwrite the environment. Does nothing if none was remembered.
/// Async-signal-safe.
void replace_command_line(std::string_view text);

}  // namespace zksh
