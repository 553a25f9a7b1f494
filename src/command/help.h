// Help: help texts, derived from the commands' declarations.
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
/// All commands; the groups that newcomers need come first.
CommandGroups commands_in_groups();

/// The width of help pages.
inline constexpr std::size_t page_width = 78;
/// All commands with their summaries, in groups.
std::string help_overview(std::size_t width = page_width);
/// The commands and settings that a word ("backup") finds, in the form of help_overview: those that
/// have it as their name or a keyword; if there are none, those with a word that begins with it in
/// their name, keywords or summary; if there are none, those that mention it. Empty if none does.
std::string help_search(std::string_view word, std::size_t width = page_width);
/// The keys of the line editor.
std::string help_keys(std::size_t width = page_width);
/// The exit statuses and what they mean, a line each, or in a sentence.
std::string help_statuses(std::size_t width = page_width);
std::string statuses_in_a_sentence();
/// Command::syntax, with "[option…]" in place of options that would not fit on a line.
std::string short_syntax(const Command& command);
/// The help of a command: syntax, summary, details, arguments, examples, wrapped at `width`
/// columns.
std::string help_of(const Command& command, std::size_t width = page_width);
/// The width for help that a command prints: at most page_width, less on a narrower terminal.
std::size_t help_width(const Output& out);

}  // namespace zksh
