// zkCli style: whether results look like today's zkCli or like 3.4's.
#pragma once

#include "command/command.h"

namespace zksh {

/// Whether results must look as in zkCli 3.4, because of the setting zkcli and zkCli's format. It
/// printed a Stat to stderr after each get, set and setAcl, no notices about deprecated forms, and
/// children in the server's order.
bool prints_as_34(const Context& cx);

}  // namespace zksh
