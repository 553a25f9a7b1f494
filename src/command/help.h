// Help: what the user reads about commands, all of it derived from their declarations.
#pragma once

#include "command/command.h"

#include <string>
#include <string_view>
#include <vector>

namespace zksh {

struct CommandGroup {
  std::string_view name;
  std::vector<const Command*> commands;  ///< sorted by name
};
using CommandGroups = std::vector<CommandGroup>;
/// Every command; what a newcomer needs first stands first.
CommandGroups commands_in_groups();

/// Every command with its summary, in groups.
std::string help_overview();
/// The commands for what a word says ("backup"), as help_overview has them: those whose name,
/// keywords or summary have it, or else those whose details or arguments mention it. Empty: there
/// are none.
std::string help_search(std::string_view word);
/// Command::syntax, but of one with more options than a line takes "[option…]" and its arguments.
std::string short_syntax(const Command& command);
/// How wide a page of help is.
inline constexpr std::size_t page_width = 78;
/// One command: syntax, summary, details, arguments, examples; texts are filled to `width` columns.
std::string help_of(const Command& command, std::size_t width = page_width);
/// The width for what a command prints: less than page_width where the terminal is narrower.
std::size_t help_width(const Output& out);
/// The usage block that zkCli.sh 3.8.0 prints for an unknown command, to the letter.
std::string zkcli_usage();

}  // namespace zksh
