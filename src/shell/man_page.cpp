// Man page: generates the manual pages from hand-written frames and the declarations.
#include "shell/man_page.h"

#include "base/mapped.h"
#include "base/text.h"
#include "base/words.h"
#include "command/help.h"
#include "command/json_fields.h"
#include "config/configuration.h"
#include "config/settings.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace zksh {
namespace {

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

/// The names in this style, with commas between them.
std::string listed(const auto& names, std::string (*style)(std::string_view)) {
  return fmt::format("{}", fmt::join(mapped(names, style), ", "));
}

/// Wraps long source lines, but not before a word that roff would take for a request.
std::string wrapped(std::string_view line) {
  constexpr std::size_t width = 78;
  std::string result;
  while (line.size() > width) {
    auto end = line.rfind(' ', width);
    while (end != std::string_view::npos && end > 0 && line[end + 1] == '.')
      end = line.rfind(' ', end - 1);
    if (end == std::string_view::npos || end == 0) break;
    result += fmt::format("{}\n", line.substr(0, end));
    line.remove_prefix(end + 1);
  }
  return result.append(line);
}

/// Formats prose: `code` becomes bold, and `separator` separates paragraphs.
std::string prose(std::string_view text, std::string_view separator) {
  std::string result;
  std::string paragraph;
  std::string_view rest = text;
  bool code = false;
  while (!rest.empty()) {
    const auto end = std::min({rest.find('`'), rest.find("\n\n"), rest.size()});
    const auto part = rest.substr(0, end);
    paragraph += code ? bold(part) : roff(part);
    rest.remove_prefix(end);
    if (rest.starts_with('`')) {
      code = !code;
      rest.remove_prefix(1);
    } else if (!rest.empty()) {
      result += fmt::format("{}\n{}\n", wrapped(std::exchange(paragraph, {})), separator);
      rest.remove_prefix(2);
    }
  }
  return result + wrapped(paragraph) + '\n';
}

/// Formats "[-s] path": options in bold, placeholders in italics.
std::string styled_syntax(std::string_view syntax) {
  constexpr std::string_view marks = " []|";
  std::string result;
  while (!syntax.empty()) {
    const auto end = std::min(syntax.find_first_of(marks), syntax.size());
    const auto word = syntax.substr(0, end);
    if (!word.empty()) result += word.starts_with('-') ? bold(word) : italic(word);
    syntax.remove_prefix(end);
    const auto next = std::min(syntax.find_first_not_of(marks), syntax.size());
    result += roff(syntax.substr(0, next));
    syntax.remove_prefix(next);
  }
  return result;
}

std::string argument_item(const Argument& argument) {
  auto names = listed(argument.names, argument.positional() ? italic : bold);
  if (!argument.value.empty() && !argument.value.starts_with('[')) names += ' ';
  names += styled_syntax(argument.value);
  if (argument.legacy) names += " (as in zkCli)";
  return fmt::format(".TP\n{}\n{}", names, prose(argument.help, ".IP"));
}

std::string options_list(const std::vector<Argument>& options) {
  std::string text;
  for (const auto& option : options)
    if (!option.legacy || option.positional()) text += argument_item(option);
  return text;
}

using Commands = std::vector<const Command*>;

/// Options that the same commands declare in the same words.
struct SharedOptions {
  Commands commands;
  std::vector<Argument> options;

  bool has(const Command& command, const Argument& argument) const {
    return std::ranges::find(commands, &command) != commands.end() &&
           std::ranges::find(options, argument.names, &Argument::names) != options.end();
  }
};

/// Options shared by so many commands of a group that they are described once.
std::vector<SharedOptions> shared_options(const Commands& group) {
  constexpr std::size_t many = 4;
  std::vector<std::pair<Argument, Commands>> takers;
  for (const Command* command : group)
    for (const auto& argument : command->arguments()) {
      if (argument.legacy || argument.positional() || is_output_option(argument)) continue;
      const auto same = std::ranges::find_if(takers, [&](const auto& taken) {
        const auto& option = taken.first;
        return option.names == argument.names && option.value == argument.value &&
               option.help == argument.help;
      });
      if (same == takers.end())
        takers.emplace_back(argument, Commands{command});
      else
        same->second.push_back(command);
    }
  std::vector<SharedOptions> shared;
  for (auto& [option, commands] : takers) {
    if (commands.size() < many) continue;
    const auto same = std::ranges::find(shared, commands, &SharedOptions::commands);
    if (same == shared.end())
      shared.push_back({std::move(commands), {std::move(option)}});
    else
      same->options.push_back(std::move(option));
  }
  return shared;
}

std::string bold_names(const Commands& commands) {
  return listed(mapped(commands, &Command::name), bold);
}

std::string shared_items(const std::vector<SharedOptions>& shared) {
  std::string text;
  for (const auto& [commands, options] : shared)
    text += fmt::format("{}{}\n.RS\n{}.RE\n", text.empty() ? "" : ".PP\n",
                        wrapped(fmt::format("Options of {}:", bold_names(commands))),
                        options_list(options));
  return text;
}

/// The command's own arguments, with a reference to the shared ones.
std::string arguments_of(const Command& command, const std::vector<SharedOptions>& shared) {
  std::vector<Argument> own;
  bool shares = false;
  for (const auto& argument : command.arguments()) {
    if (is_output_option(argument)) continue;  // zksh(1) describes it once
    if (std::ranges::any_of(shared, [&](const auto& s) { return s.has(command, argument); }))
      shares = true;
    else
      own.push_back(argument);
  }
  const auto arguments = options_list(own);
  std::string text;
  if (!arguments.empty()) text += ".RS\n" + arguments + ".RE\n";
  if (shares) text += ".IP\nFurther options are described at the head of this section.\n";
  return text;
}

std::string command_item(const Command& command, const std::vector<SharedOptions>& shared) {
  const auto syntax = short_syntax(command);
  auto text = fmt::format(".TP\n{}{}{}\n{}", bold(command.name), syntax.empty() ? "" : " ",
                          styled_syntax(syntax), prose(fmt::format("{}.", command.summary), ".IP"));
  if (!command.details.empty()) text += ".IP\n" + prose(command.details, ".IP");
  if (!command.aliases.empty())
    text += fmt::format(".IP\nAlso called {}.\n", listed(command.aliases, bold));
  text += arguments_of(command, shared);
  if (command.examples.empty()) return text;
  text += ".IP\nExamples:\n.RS\n";
  for (const auto& example : command.examples)
    text += fmt::format(".TP\n{}\n{}", bold(example.line), prose(example.meaning, ".IP"));
  return text + ".RE\n";
}

std::string groups_list() {
  std::string text;
  for (const auto& [group, commands] : commands_in_groups())
    text += fmt::format(".TP\n{}\n{}\n", roff(group), bold_names(commands));
  return text;
}

std::string with_version(std::string_view line) {
  constexpr std::string_view mark = "@VERSION@";
  std::string text(line);
  if (const auto at = text.find(mark); at != std::string::npos)
    text.replace(at, mark.size(), ZKSH_VERSION);
  return text;
}

std::string commands_list() {
  std::string text;
  for (const auto& [group, commands] : commands_in_groups()) {
    const auto shared = shared_options(commands);
    text += fmt::format(".SS {}\n{}", roff(group), shared_items(shared));
    for (const Command* command : commands) text += command_item(*command, shared);
  }
  return text;
}

std::string json_fields_list() {
  std::string text;
  for (const auto& field : json_fields()) {
    auto type = std::string(field.type);
    if (field.can_be_null()) type.replace(type.size() - 1, 1, " or null");
    text +=
        fmt::format(".TP\n{} ({})\n{}", bold(field.name), roff(type), prose(field.meaning, ".IP"));
  }
  return text;
}

std::string json_objects_list() {
  std::string text;
  for (const auto& object : json_objects())
    text += fmt::format(
        ".TP\n{}\n{}", bold(object.name),
        prose(fmt::format("{} Fields: {}.", object.meaning, json_shapes_text(object.fields)),
              ".IP"));
  return text;
}

std::string json_commands_list() {
  std::string text;
  for (const Command* command : all_commands())
    if (!command->json.empty())
      text += fmt::format(".TP\n{}\n{}", bold(command->name),
                          prose(json_shapes_text(command->json), ".IP"));
  return text;
}

std::string keys_list() {
  std::string text;
  for (const auto& [name, initial, help] : Configuration::keys())
    text +=
        fmt::format(".TP\n{}{}\n{}", bold(name),
                    initial.empty() ? "" : fmt::format(" ({})", roff(initial)), prose(help, ".IP"));
  return text;
}

std::string drop_in_list() {
  std::string text = ".PP\n.RS 4\n.nf\n";
  for (const auto& [name, value] : drop_in_settings())
    text += fmt::format("{} = {}\n", name, roff(trimmed(value)));
  return text + ".fi\n.RE\n";
}

}  // namespace

std::string roff(std::string_view text) {
  constexpr std::array<std::pair<char, std::string_view>, 6> special{{{'\\', "\\e"},
                                                                      {'-', "\\-"},
                                                                      {'\'', "\\(aq"},
                                                                      {'`', "\\(ga"},
                                                                      {'^', "\\(ha"},
                                                                      {'~', "\\(ti"}}};
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const auto step = decode_utf8(text, at);
    const char byte = text[at];
    const auto* escape =
        std::ranges::find(special, byte, [](const auto& pair) { return pair.first; });
    if (step.code_point > 0x7F)
      result += fmt::format("\\[u{:04X}]", static_cast<unsigned>(step.code_point));
    else if (escape != special.end())
      result += escape->second;
    else if (byte == '.' && (result.empty() || result.back() == '\n'))
      result += "\\&.";  // otherwise it would begin a request
    else
      result += byte;
    at += step.length;
  }
  return result;
}

std::string man_page(std::string_view frame, const std::vector<Argument>& process_options) {
  static const std::map<std::string_view, std::string (*)()> lists{
      {"@GROUPS@", groups_list},
      {"@COMMANDS@", commands_list},
      {"@JSON_FIELDS@", json_fields_list},
      {"@JSON_OBJECTS@", json_objects_list},
      {"@JSON_COMMANDS@", json_commands_list},
      {"@KEYS@", keys_list},
      {"@DROP_IN@", drop_in_list}};
  constexpr std::string_view indent = "    ";
  const auto spaced = [](std::string_view line) {
    return line.starts_with(".S") || line.starts_with(".PP");
  };
  std::string page;
  std::string_view last = ".SH";
  for (const auto line : lines_of(frame)) {
    const bool verbatim = line.starts_with(indent);
    if (verbatim != last.starts_with(indent)) {
      if (!verbatim) page += ".fi\n.RE\n";
      if (!spaced(verbatim ? last : line)) page += ".PP\n";
      if (verbatim) page += ".RS 4\n.nf\n";
    }
    if (verbatim)
      page += roff(line.substr(indent.size())) + '\n';
    else if (line == "@OPTIONS@")
      page += options_list(process_options);
    else if (const auto list = lists.find(line); list != lists.end())
      page += list->second();
    else
      page += with_version(line) + '\n';
    last = line;
  }
  return page;
}

}  // namespace zksh
