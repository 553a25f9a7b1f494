// Command: looking one up, and what commands share.
#include "command.h"

#include "command_table.h"
#include "nearest.h"

#include <fmt/core.h>

#include <algorithm>

namespace zksh {

std::string Context::resolve(const std::string& path, bool sequential) const {
  // Completion ends a node that has children with a slash; zkCli's piped lines know no such
  // kindness.
  const bool forgiven =
      input != Input::Pipe && !sequential && path.size() > 1 && path.ends_with('/');
  auto absolute = forgiven ? path.substr(0, path.size() - 1) : path;
  check_path(absolute, sequential);
  return absolute;
}

std::string Command::syntax() const {
  std::string text;
  describe([&](const Options& options) { text = options.syntax(); });
  return text;
}

void refuse_surplus(Input input, const Options& options, bool strict) {
  if (options.surplus().empty() || (input == Input::Pipe && !strict)) return;
  const bool runs_program = std::ranges::any_of(options.arguments(), [](const Argument& argument) {
    return argument.kind == Argument::Kind::Program;
  });
  const auto& first = options.surplus().front();
  const auto* const hint = first == "&"   ? "only a line at the prompt runs in the background"
                           : runs_program ? "a program goes behind --"
                                          : "a value with blanks wants quotes";
  const auto text = fmt::format("too many words: \"{}\" is left over ({})", first, hint);
  if (input == Input::Pipe) throw SyntaxError(text);
  throw UsageError(text);
}

std::span<const Command* const> all_commands() {
  static const auto sorted = [] {
    std::vector<const Command*> commands(command_table().begin(), command_table().end());
    std::ranges::sort(commands, {}, [](const Command* command) { return command->name; });
    return commands;
  }();
  return sorted;
}

const Command* find_command(std::string_view name) {
  for (const Command* command : all_commands())
    if (command->name == name ||
        std::ranges::find(command->aliases, name) != command->aliases.end())
      return command;
  return nullptr;
}

std::vector<std::string> nearest_commands(std::string_view word) {
  std::vector<std::string> names;
  for (const Command* command : all_commands()) {
    names.emplace_back(command->name);
    names.insert(names.end(), command->aliases.begin(), command->aliases.end());
  }
  return nearest(word, names);
}

}  // namespace zksh
