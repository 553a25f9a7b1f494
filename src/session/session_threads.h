// SessionThreads: handles a lack of threads, of which the C client needs two per session.
//
// The C client asserts that its threads start, which would abort the process without a helpful
// message. A function here replaces the C library's __assert_fail, since there is no hook for this.
#pragma once

namespace zksh {

/// Throws Error{failure} if the process's limits (setrlimit) leave no room for another session's
/// threads. Costs nothing where limits are wide.
void require_session_threads();

}  // namespace zksh
