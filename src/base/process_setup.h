// Process setup: the resource limits, descriptors and environment that zksh was started with, and
// the command line that others see.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// Throws Error{failure}, naming what is missing, if the resource limits (setrlimit) leave too
/// little room for the descriptors, memory or threads that zksh and the C client need. Later, a
/// failure would end the process, or look as if no server answered. Costs nothing where limits are
/// wide.
void require_resources();

/// The same for `count` threads, now; `for_what` is what needs them. It checks by starting them,
/// and reserves nothing.
void require_threads(std::size_t count, const char* for_what);

/// The descriptors above stderr that are not close-on-exec: whoever started zksh meant its programs
/// to inherit them. All that zksh opens for longer than a moment is close-on-exec.
std::vector<int> inherited_descriptors();

/// A variable of the environment; `otherwise` if it is not set, or empty.
std::string environment(const char* name, std::string_view otherwise = {});

/// Records where the kernel keeps the command line and the environment, for replace_command_line.
/// Call it once, from main, before anything changes the environment.
void remember_command_line(char** argv);

/// Replaces the command line of this process as `ps` and `pkill -f` see it; cut if there is too
/// little room. It may overwrite the environment. Does nothing if none was remembered.
/// Async-signal-safe.
void replace_command_line(std::string_view text);

}  // namespace zksh
