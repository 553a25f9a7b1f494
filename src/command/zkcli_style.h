// zkCli style: whose results zksh prints, those of today's zkCli or those of 3.4's.
#pragma once

#include "command/command.h"

namespace zksh {

/// Whether results are to be what zkCli 3.4 printed: the setting zkcli says so, and the format is
/// zkCli's. It printed a Stat, on stderr, after each get, set and setAcl, no notices of old forms,
/// and children in the server's order.
bool prints_as_34(const Context& cx);

}  // namespace zksh
