// Line style: the colours of the line being typed.
#include "shell/line_style.h"

#include "base/words.h"
#include "command/command.h"
#include "command/given_words.h"
#include "shell/operators.h"

#include <algorithm>
#include <span>
#include <string>

namespace zksh {
namespace {

constexpr std::string_view known_command = "\033[1m";  // bold
constexpr std::string_view unknown = "\033[31m";       // red
constexpr std::string_view option = "\033[36m";        // cyan
constexpr std::string_view quoted = "\033[33m";        // yellow
constexpr std::string_view sign = "\033[35m";          // magenta
constexpr std::string_view comment = "\033[2m";        // dim
constexpr std::size_t longest_line = std::size_t{16} << 10U;

std::string_view style_of_command(std::string_view name, bool complete) {
  if (command_named(name)) return known_command;
  if (name.starts_with('!')) return {};  // a history expansion
  const auto may_become = [&](std::string_view known) { return known.starts_with(name); };
  const bool possible = std::ranges::any_of(all_commands(), [&](const Command* command) {
    return may_become(command->name) || std::ranges::any_of(command->aliases, may_become);
  });
  return possible && !complete ? std::string_view() : unknown;
}

/// Behind `|`, the operators are another shell's.
void style_operators(std::string_view line, std::vector<StyledBytes>& styles) {
  bool in_program = false;
  for (std::size_t from = 0; from < line.size();) {
    const auto rest = line.substr(from);
    const auto operators = operators_in(rest);
    for (const auto& one : operators)
      styles.push_back(
          {.begin = from + one.begin,
           .end = from + one.end,
           .style = one.kind == Operator::Kind::Foreign && !in_program ? unknown : sign});
    if (operators.empty() || operators.back().kind != Operator::Kind::Program) return;
    in_program = true;
    from += operators.back().end;
  }
}

/// What the declaration of the line's command tells about its words.
struct DeclaredWords {
  std::size_t program = 0;             ///< the index of the first word of the program to run
  std::vector<std::string> unknown{};  ///< options that the command does not have
};

bool begins_option(const std::vector<Argument>& arguments, std::string_view word) {
  const auto begins = [&](std::string_view name) { return name.starts_with(word); };
  return std::ranges::any_of(arguments, [&](const Argument& argument) {
    return std::ranges::any_of(argument.names, begins);
  });
}

/// `open`: the last word is still being typed and may become any option that begins with it.
DeclaredWords declared_words(std::string_view line, const std::vector<WordPlace>& places,
                             bool open) {
  std::vector<std::string> words;
  words.reserve(places.size());
  for (const auto& place : places)
    words.emplace_back(line.substr(place.begin, place.end - place.begin));
  DeclaredWords declared{.program = words.size()};
  const auto* const command = command_named(words.front());
  if (!command) return declared;
  const auto arguments = command->arguments();
  const auto given = given_words(arguments, std::span(words).subspan(1));
  declared.program -= given.program_words;
  // The options of repeat's command are not its own.
  if (std::ranges::find(arguments, Argument::Kind::Line, &Argument::kind) != arguments.end())
    return declared;
  const std::string_view help = "--help";  // which no command declares
  for (const auto& word : given.unknown) {
    const bool typing = open && word == words.back();
    if (word != help && !(typing && (begins_option(arguments, word) || help.starts_with(word))))
      declared.unknown.push_back(word);
  }
  return declared;
}

/// The styles of the words before a command's first operator, without which it may be empty.
void style_words(std::string_view line, std::size_t cursor, std::vector<StyledBytes>& styles) {
  const auto places = word_places(line);
  if (places.empty()) return;
  const auto declared = declared_words(line, places, cursor == places.back().end);
  const auto program = places.begin() + static_cast<std::ptrdiff_t>(declared.program);
  bool options_may_come = true;
  for (auto place_at = places.begin(); place_at != places.end(); ++place_at) {
    const auto& place = *place_at;
    options_may_come = options_may_come && place_at < program;
    const auto word = line.substr(place.begin, place.end - place.begin);
    std::string_view style;
    if (&place == &places.front()) {
      style = style_of_command(word, cursor != place.end);
    } else if (place.quoted()) {
      style = quoted;
    } else if (word == "&") {
      style = sign;
    } else if (options_may_come && looks_like_option(word) && word.size() > 1) {
      const bool is_unknown = std::ranges::find(declared.unknown, word) != declared.unknown.end();
      style = is_unknown ? unknown : option;
      options_may_come = word != "--";
    }
    if (!style.empty()) styles.push_back({.begin = place.begin, .end = place.end, .style = style});
  }
}

/// The styles of one command; byte offsets into it.
std::vector<StyledBytes> command_styles(std::string_view line, std::size_t cursor) {
  std::vector<StyledBytes> styles;
  if (is_blank_or_comment(line)) {
    const auto begin = line.find('#');
    if (begin != std::string_view::npos)
      styles.push_back({.begin = begin, .end = line.size(), .style = comment});
    return styles;
  }
  const auto operators = operators_in(line);
  const auto end = operators.empty() ? line.size() : operators.front().begin;
  style_words(line.substr(0, end), cursor, styles);
  style_operators(line, styles);
  // Files, and a program's words.
  for (auto place = word_place_from(line, end); place; place = word_place_from(line, place->end))
    if (place->quoted())
      styles.push_back({.begin = place->begin, .end = place->end, .style = quoted});
  std::ranges::sort(styles, {}, &StyledBytes::begin);
  return styles;
}

}  // namespace

std::vector<StyledBytes> line_styles(std::string_view line, std::size_t cursor) {
  std::vector<StyledBytes> styles;
  if (line.size() > longest_line) return styles;
  bool in_program = false;  // its words extend to the end of the line
  for (const auto& part : parts_of(line, PartBy::Command)) {
    in_program = in_program && line[part.begin - 1] != '\n';
    if (in_program) continue;
    for (auto styled : command_styles(line.substr(part.begin, part.end - part.begin),
                                      cursor - std::min(cursor, part.begin))) {
      const bool is_pipe = line.substr(part.begin + styled.begin, 1) == "|";
      in_program = in_program || (is_pipe && styled.style == sign);
      styled.begin += part.begin;
      styled.end += part.begin;
      styles.push_back(styled);
    }
  }
  return styles;
}

}  // namespace zksh
