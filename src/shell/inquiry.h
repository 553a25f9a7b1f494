// Inquiry: answers what the build, the tests and the shells' completion ask of the program.
#pragma once

#include "shell/arguments.h"

namespace zksh {

/// Writes the answer to standard output and returns the exit status. Throws Error. Candidates come
/// within a second, or not at all, whatever the servers do, and nothing is said of a failure.
int answer(const Inquiry& inquiry);

}  // namespace zksh
