// Help: help texts, derived from the commands' declarations.
#include "command/help.h"

#include "base/text.h"
#include "command/json_fields.h"
#include "command/screen.h"
#include "config/settings.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace zksh {
namespace {

/// Wraps a text; empty lines separate paragraphs.
std::string filled(std::string_view text, std::size_t indent, std::size_t width) {
  std::string flowing(text);
  for (std::size_t at = 0; (at = flowing.find('\n', at)) != std::string::npos;) {
    const auto end = std::min(flowing.find_first_not_of('\n', at), flowing.size());
    if (end == at + 1) flowing[at] = ' ';
    at = end;
  }
  flowing = wrapped(flowing, width - std::min(width - 1, indent));
  std::string result;
  for (const auto line : lines_of(flowing))
    result += line.empty() ? "\n" : fmt::format("{:{}}{}\n", "", indent, line);
  return result;
}

std::string names_of(const Argument& argument) {
  const auto names = fmt::format("{}", fmt::join(argument.names, ", "));
  return argument.value.empty() ? names : names + ' ' + argument.value;
}

std::string argument_lines(const Command& command, std::size_t width) {
  // The lock commands share thirty options, which only one of them explains.
  constexpr std::string_view explains_all = "lock";
  std::vector<Argument> explained;
  if (command.group == "Locks" && command.name != explains_all)
    explained = command_named(explains_all)->arguments();
  const auto is_explained = [&](const Argument& argument) {
    return !argument.positional() && !is_output_option(argument) &&
           std::ranges::any_of(explained, [&](const Argument& other) {
             return other.names == argument.names && other.help == argument.help;
           });
  };
  std::string text;
  std::string others;
  for (const auto& argument : command.arguments()) {
    if (argument.legacy && !argument.positional()) continue;
    if (is_explained(argument)) {
      others += (others.empty() ? "" : "; ") + names_of(argument);
      continue;
    }
    text += filled(names_of(argument) + (argument.legacy ? " (as in zkCli)" : ""), 2, width) +
            filled(argument.help, 6, width);
  }
  if (!others.empty())
    text +=
        fmt::format("\nOptions described in `help {}`\n", explains_all) + filled(others, 2, width);
  return text;
}

/// Whether a word of the text begins with `word`, ignoring case; a plural matches its singular.
bool has_word(std::string_view text, std::string_view word) {
  constexpr std::size_t shortest_plural = 5;
  if (word.size() >= shortest_plural && word.ends_with('s')) word.remove_suffix(1);
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (auto rest = text; rest.size() >= word.size();) {
    const auto* const at =
        std::search(rest.begin(), rest.end(), word.begin(), word.end(),
                    [](char one, char other) { return lower_case(one) == lower_case(other); });
    if (at == rest.end()) return false;
    const auto start = static_cast<std::size_t>(at - text.begin());
    if (start == 0 || !is_letter(text[start - 1])) return true;
    rest = text.substr(start + 1);
  }
  return false;
}

bool is_called(const Command& command, std::string_view word) {
  const auto has = [&](std::string_view text) { return has_word(text, word); };
  return has(command.name) || has(command.summary) || std::ranges::any_of(command.aliases, has) ||
         std::ranges::any_of(command.keywords, has);
}

bool mentions(const Command& command, std::string_view word) {
  return has_word(command.details, word) ||
         std::ranges::any_of(command.arguments(), [&](const Argument& argument) {
           return !is_output_option(argument) &&
                  (has_word(argument.help, word) || has_word(argument.names.back(), word));
         });
}

std::size_t widest_name(std::span<const Command* const> commands) {
  std::size_t widest = 0;
  for (const Command* command : commands) widest = std::max(widest, command->name.size());
  return widest;
}

/// A name and its meaning, which starts at a margin and is wrapped there.
std::string entry(std::string_view name, std::string_view meaning, std::size_t margin,
                  std::size_t width) {
  constexpr std::size_t narrowest = 12;
  margin += 4;
  const bool apart = margin + narrowest > width;
  auto text = filled(meaning, apart ? 6 : margin, width);
  if (apart) return fmt::format("  {}\n{}", name, text);
  return fmt::format("  {:{}}", name, margin - 2) + text.substr(margin);
}

/// Commands that the overview names only beside the command that they stand for.
struct OtherForm {
  std::string_view name;
  std::string_view stands_for;
};
constexpr std::array other_forms{OtherForm{"getAllChildrenNumber", "count"},
                                 OtherForm{"getEphemerals", "ephemerals"}, OtherForm{"ls2", "ls"},
                                 OtherForm{"rlock", "rwlock"}, OtherForm{"wlock", "rwlock"}};

struct Explained {
  std::string_view name;
  std::string_view meaning;
};
constexpr auto editor_keys = std::to_array<Explained>(
    {{"Tab, Shift-Tab", "Complete; again: step through the candidates, and back."},
     {"Right, End", "At the end of the line: take the hint. Alt-F takes a word of it."},
     {"Up, Down", "Recall earlier lines: those that begin with what was typed before Up."},
     {"Ctrl-R", "Search earlier lines."},
     {"Alt-.", "Insert the last word of the line before; again: of the one before that."},
     {"Ctrl-A, Ctrl-E", "Go to the beginning, the end."},
     {"Ctrl-W, Ctrl-U", "Delete the word before the cursor, all before the cursor."},
     {"Ctrl-Y, Ctrl-_", "Insert what was deleted; undo."},
     {"Ctrl-X Ctrl-E",
      "Edit the line in $VISUAL or $EDITOR, and run what was saved, if anything was (in vi: v)."},
     {"Ctrl-L", "Clear the screen."},
     {"Ctrl-C", "End the running command, or drop the typed line."},
     {"Ctrl-Z", "Move a command that only waits to the background; else stop zksh."},
     {"Ctrl-D", "On an empty line: exit."},
     {"Enter", "Run the line; within quotes: go on in the next line."}});

constexpr auto exit_statuses =
    std::to_array<Explained>({{"0", "success"},
                              {"1", "false or failed"},
                              {"2", "usage"},
                              {"3", "no connection"},
                              {"4", "no node"},
                              {"5", "node exists"},
                              {"6", "version mismatch"},
                              {"7", "not authorised"},
                              {"8", "has children"},
                              {"9", "session expired"},
                              {"10", "outcome unknown"},
                              {"11", "read-only"},
                              {"12", "refused by the server"},
                              {"75", "lock busy"},
                              {"76", "lock lost"},
                              {"124", "timed out"},
                              {"126, 127", "program cannot be run, not found"},
                              {"128+n", "signal n"}});

}  // namespace

std::string statuses_in_a_sentence() {
  std::string text;
  for (const auto& [number, meaning] : exit_statuses)
    text += fmt::format("{}{} {}", text.empty() ? "Exit status: " : "; ", number, meaning);
  return text + '.';
}

std::string help_statuses(std::size_t width) {
  auto text =
      filled("Exit statuses of commands and of zksh; the prompt shows the last one (!4)", 0, width);
  for (const auto& [number, meaning] : exit_statuses) text += entry(number, meaning, 8, width);
  return text;
}

CommandGroups commands_in_groups() {
  constexpr std::array<std::string_view, 12> order{"Nodes",   "Trees",    "Watches", "Locks",
                                                   "Shell",   "Session",  "Access",  "Quotas",
                                                   "Servers", "Ensemble", "Sandbox", "Past"};
  CommandGroups groups;
  for (const auto name : order) groups.push_back({.name = name, .commands = {}});
  for (const Command* command : all_commands()) {
    auto group = std::ranges::find(groups, command->group, &CommandGroup::name);
    if (group == groups.end())
      group = groups.insert(groups.end(), {.name = command->group, .commands = {}});
    group->commands.push_back(command);
  }
  std::erase_if(groups, [](const CommandGroup& group) { return group.commands.empty(); });
  return groups;
}

std::string help_keys(std::size_t width) {
  auto text = filled("Keys at the prompt (GNU Readline's; ~/.inputrc can change them)", 0, width);
  for (const auto& [keys, meaning] : editor_keys) text += entry(keys, meaning, 14, width);
  return text;
}

std::string help_search(std::string_view word, std::size_t width) {
  // From exact names to mere mentions.
  for (const auto& [command_matches, setting_matches] :
       {std::pair<bool (*)(const Command&, std::string_view),
                  bool (*)(std::string_view, std::string_view)>{has_name, equal_ignoring_case},
        {is_called, has_word},
        {mentions, nullptr}}) {
    std::vector<const Command*> found;
    for (const Command* command : all_commands())
      if (command_matches(*command, word)) found.push_back(command);
    std::string text;
    for (const Command* command : found)
      text += entry(command->name, command->summary, widest_name(found), width);
    for (const auto& setting : Settings::descriptions())
      if (setting_matches ? setting_matches(setting.name, word) : has_word(setting.help, word))
        text += entry(fmt::format("conf {}", setting.name), setting.help, 17, width);
    if (!text.empty()) return text;
  }
  return {};
}

std::string help_overview(std::size_t width) {
  std::string text =
      "`help NAME` explains a command, with examples; `help WORD` finds commands and settings for "
      "a subject, such as backup or permission; `help keys` lists the keys. Tab completes. To "
      "start: create /demo hello, watch /demo &, set /demo world, tree /, lock /demo, unlock, "
      "deleteall /demo.";
  text = filled(text, 0, width) + '\n';
  const auto is_form = [](const Command* command) {
    return std::ranges::count(other_forms, command->name, &OtherForm::name) > 0;
  };
  auto groups = commands_in_groups();
  std::size_t margin = 0;
  for (auto& [group, commands] : groups) {
    std::erase_if(commands, is_form);
    margin = std::max(margin, widest_name(commands));
  }
  for (const auto& [group, commands] : groups) {
    text += fmt::format("{}\n", group);
    for (const Command* command : commands) {
      std::vector<std::string_view> forms;
      for (const auto& [name, stands_for] : other_forms)
        if (stands_for == command->name) forms.push_back(name);
      const auto also = forms.empty() ? "" : fmt::format(" (also {})", fmt::join(forms, ", "));
      text += entry(command->name, std::string(command->summary) + also, margin, width);
    }
    text += '\n';
  }
  text.pop_back();
  return text;
}

std::string short_syntax(const Command& command) {
  constexpr std::size_t longest = 200;
  auto arguments = command.arguments();
  auto text = syntax_of(arguments);
  if (text.size() <= longest) return text;
  std::erase_if(arguments, [](const Argument& argument) { return !argument.positional(); });
  return "[option…] " + syntax_of(arguments);
}

std::size_t help_width(const Output& out) {
  if (!out.style().out_is_terminal) return page_width;
  constexpr std::size_t narrowest = 20;
  return std::clamp<std::size_t>(terminal_size().columns, narrowest + 1, page_width + 1) - 1;
}

std::string help_of(const Command& command, std::size_t width) {
  const auto syntax = short_syntax(command);
  auto text =
      wrapped(fmt::format("{}{}{}\n\n", command.name, syntax.empty() ? "" : " ", syntax), width);
  text += filled(fmt::format("{}.", command.summary), 2, width);
  if (!command.details.empty()) text += '\n' + filled(command.details, 2, width);
  if (const auto arguments = argument_lines(command, width); !arguments.empty())
    text += "\nArguments\n" + arguments;
  if (!command.json.empty())
    text +=
        '\n' + filled(fmt::format("-o json: {} (zksh-json(5)).", json_shapes_text(command.json)), 2,
                      width);
  if (!command.aliases.empty())
    text += fmt::format("\nAlso called {}.\n", fmt::join(command.aliases, ", "));
  if (const auto foreign = command.foreign_options(); !foreign.empty()) {
    text += "\nOptions of similar tools\n";
    for (const auto& [names, remedy] : foreign)
      text += filled(fmt::format("{}", fmt::join(names, ", ")), 2, width) +
              filled(fmt::format("{}.", remedy), 6, width);
  }
  if (!command.examples.empty()) text += "\nExamples\n";
  for (const auto& example : command.examples)
    text += fmt::format("  {}\n", example.line) + filled(example.meaning, 6, width);
  return text;
}

}  // namespace zksh
