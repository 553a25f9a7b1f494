// Run: the parts of zksh put together for one invocation.
#pragma once

#include "shell/arguments.h"

namespace zksh {

/// Does what the arguments ask for and returns the exit status. On the main thread. Throws Error
/// for what goes wrong before anything is run.
int run(const Arguments& arguments);

}  // namespace zksh
