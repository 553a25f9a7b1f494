// ProcessTable: what the kernel tells of processes that are not our children.
#pragma once

#include <sys/types.h>
#include <vector>

namespace zksh {

/// The processes of a process group that have not ended. Looks through all of /proc: milliseconds.
std::vector<pid_t> group_members(pid_t group);
/// The parent of a process; 0 when there is no such process, or none that we may see.
pid_t parent_of(pid_t process);

}  // namespace zksh
