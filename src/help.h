// Help: what the user reads about commands, all of it derived from their declarations.
#pragma once

#include "command.h"

#include <string>

namespace zksh {

/// Every command with its summary, in groups.
std::string help_overview();
/// Command::syntax, but of one with more options than a line takes "[option…]" and its arguments.
std::string short_syntax(const Command& command);
/// One command: syntax, summary, details, arguments, examples.
std::string help_of(const Command& command);
/// The usage block that zkCli.sh 3.8.0 prints for an unknown command, to the letter.
std::string zkcli_usage();

}  // namespace zksh
