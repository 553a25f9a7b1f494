// The commands that the build found, in the order of their files.
#pragma once

#include "command/command.h"

#include <span>

namespace zksh {

std::span<const Command* const> command_table();

}  // namespace zksh
