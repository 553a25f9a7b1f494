// Inquiry: answers requests from the build, the tests and the shells' completion.
#pragma once

#include "shell/arguments.h"

namespace zksh {

/// Writes the answer to standard output and returns the exit status. Throws Error. Candidates are
/// printed within a second or not at all, whatever the servers do, and failures are not reported.
int answer(const Inquiry& inquiry);

}  // namespace zksh
