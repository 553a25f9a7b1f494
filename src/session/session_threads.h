// SessionThreads: the two threads that the C client starts for each session, and what becomes of
// zksh when the machine has none left.
//
// The C client asserts that its threads start, which would end the process without a word that
// helps. A function of this unit takes the place of the C library's __assert_fail: there is no
// other seam.
#pragma once

namespace zksh {

/// Throws Error{failure} when the process's limits (setrlimit) leave no room for the threads of
/// another session. Costs nothing where they are wide.
void require_session_threads();

}  // namespace zksh
