// Process setup: the resource limits and descriptors that zksh was started with.
#pragma once

#include <cstddef>
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

}  // namespace zksh
