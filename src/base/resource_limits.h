// Resource limits: what zksh needs of the machine, asked for before anything depends on it.
#pragma once

namespace zksh {

/// Throws Error{failure} that names what is missing when the process's limits (setrlimit) leave no
/// room for the descriptors, the memory or the threads that zksh and the C client start with: where
/// they come, a failure ends the process, or looks as if no server answered. Costs nothing where
/// the limits are wide.
void require_resources();

}  // namespace zksh
