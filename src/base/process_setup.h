// Process setup: the limits and descriptors with which zksh was started.
#pragma once

#include <cstddef>
#include <vector>

namespace zksh {

/// Throws Error{failure} that names what is missing when the process's limits (setrlimit) leave no
/// room for the descriptors, the memory or the threads that zksh and the C client start with: where
/// they come, a failure ends the process, or looks as if no server answered. Costs nothing where
/// the limits are wide.
void require_resources();

/// The same for so many threads, now; `for_what` needs them. Threads that end are as good as new
/// ones for the next who asks, not reserved.
void require_threads(std::size_t count, const char* for_what);

/// Those that are not closed on exec, in order: a program that gets them has what whoever started
/// zksh meant it to have. They are found by the first call, which must come before zksh, or a
/// library, opens anything.
const std::vector<int>& inherited_descriptors();

}  // namespace zksh
