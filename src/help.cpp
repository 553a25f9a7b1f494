// Help: what the user reads about commands, all of it derived from their declarations.
#include "help.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

namespace zksh {
namespace {

constexpr std::size_t page_width = 78;

/// Breaks a text into lines of the page's width; an empty line keeps paragraphs apart.
std::string filled(std::string_view text, std::size_t indent) {
  const std::string margin(indent, ' ');
  std::string result;
  std::string line;
  const auto flush = [&] {
    if (!line.empty()) result += margin + line + '\n';
    line.clear();
  };
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(" \n"), text.size());
    const auto word = text.substr(0, end);
    if (!word.empty()) {
      if (!line.empty() && indent + line.size() + 1 + word.size() > page_width) flush();
      if (!line.empty()) line += ' ';
      line += word;
    }
    const bool paragraph = text.substr(end).starts_with("\n\n");
    if (paragraph) {
      flush();
      result += '\n';
    }
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  flush();
  return result;
}

std::string argument_lines(const Command& command) {
  std::string text;
  command.describe([&](const Options& options) {
    for (const auto& argument : options.arguments()) {
      auto names = fmt::format("{}", fmt::join(argument.names, ", "));
      if (!argument.value.empty()) names += ' ' + argument.value;
      if (argument.legacy) names += " (as in zkCli 3.4)";
      text += fmt::format("  {}\n", names) + filled(argument.help, 6);
    }
  });
  return text;
}

}  // namespace

std::string help_overview() {
  std::map<std::string_view, std::vector<const Command*>> groups;
  std::size_t widest = 0;
  for (const Command* command : all_commands()) {
    groups[command->group].push_back(command);
    widest = std::max(widest, command->name.size());
  }
  std::string text;
  for (const auto& [group, commands] : groups) {
    text += fmt::format("{}\n", group);
    for (const Command* command : commands)
      text += fmt::format("  {:{}}  {}\n", command->name, widest, command->summary);
    text += '\n';
  }
  return text + "`help NAME` or `NAME --help` tells all about one.\n";
}

std::string short_syntax(const Command& command) {
  constexpr std::size_t longest = 200;
  auto text = command.syntax();
  if (text.size() <= longest) return text;
  // Options come first; a value may have brackets of its own.
  while (text.starts_with("[-") && !text.starts_with("[-- ")) {
    std::size_t end = 0;
    int depth = 0;
    do {
      depth += text[end] == '[' ? 1 : text[end] == ']' ? -1 : 0;
      ++end;
    } while (depth > 0 && end < text.size());
    text.erase(0, std::min(text.size(), end + 1));
  }
  return "[option…] " + text;
}

std::string help_of(const Command& command) {
  auto text = fmt::format("{} {}\n\n", command.name, short_syntax(command));
  text += filled(fmt::format("{}.", command.summary), 2);
  if (!command.details.empty()) text += '\n' + filled(command.details, 2);
  if (const auto arguments = argument_lines(command); !arguments.empty())
    text += "\nArguments\n" + arguments;
  if (!command.aliases.empty())
    text += fmt::format("\nAlso called {}.\n", fmt::join(command.aliases, ", "));
  if (!command.examples.empty()) text += "\nExamples\n";
  for (const auto& example : command.examples)
    text += fmt::format("  {}\n", example.line) + filled(example.meaning, 6);
  return text;
}

std::string zkcli_usage() {
  std::string text = "ZooKeeper -server host:port -client-configuration properties-file cmd args\n";
  for (const Command* command : all_commands())
    if (command->zkcli_syntax)
      text += fmt::format("\t{} {}\n", command->name, *command->zkcli_syntax);
  return text;
}

}  // namespace zksh
