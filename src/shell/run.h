// Run: sets up the parts of zksh for one invocation, and runs it.
#pragma once

#include "shell/arguments.h"

namespace zksh {

/// Does what the arguments ask for and returns the exit status. Main thread. Throws Error for
/// failures before anything is run.
int run(const Arguments& arguments);

}  // namespace zksh
