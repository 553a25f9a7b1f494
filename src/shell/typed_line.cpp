// TypedLine: the colours of the line being typed, and the hint after it.
#include "shell/typed_line.h"

#include "base/mapped.h"
#include "base/words.h"
#include "command/command.h"
#include "command/given_words.h"
#include "shell/command_line.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <span>

namespace zksh {
namespace {

namespace style {
constexpr std::string_view known_command = "\033[1m";  // bold
constexpr std::string_view unknown = "\033[31m";       // red
constexpr std::string_view option = "\033[36m";        // cyan
constexpr std::string_view quoted = "\033[33m";        // yellow
constexpr std::string_view sign = "\033[35m";          // magenta
constexpr std::string_view comment = "\033[2m";        // dim
}  // namespace style
constexpr std::size_t longest_line = std::size_t{16} << 10U;

std::string_view style_of_command(std::string_view name, bool complete) {
  if (command_named(name)) return style::known_command;
  if (name.starts_with('!')) return {};  // a history expansion
  const bool possible = std::ranges::any_of(
      command_names(), [&](const std::string& known) { return known.starts_with(name); });
  return possible && !complete ? std::string_view() : style::unknown;
}

/// After `|`, the operators are another shell's.
void style_operators(std::string_view line, std::vector<StyledBytes>& styles) {
  bool in_program = false;
  for (std::size_t from = 0; from < line.size();) {
    const auto rest = line.substr(from);
    const auto operators = operators_in(rest);
    for (const auto& one : operators)
      styles.push_back({.begin = from + one.begin,
                        .end = from + one.end,
                        .style = one.kind == Operator::Kind::Foreign && !in_program ? style::unknown
                                                                                    : style::sign});
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
  const auto words = mapped<std::string>(places, [&](const WordPlace& place) {
    return line.substr(place.begin, place.end - place.begin);
  });
  DeclaredWords declared{.program = words.size()};
  const auto* const command = command_named(words.front());
  if (!command) return declared;
  const auto arguments = command->arguments();
  const auto given = given_words(arguments, std::span(words).subspan(1));
  declared.program -= given.program_words;
  // The options of the command that repeat runs are not repeat's own.
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

/// The styles of the words before a command's first operator; there may be none.
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
    std::string_view shown;
    if (&place == &places.front()) {
      shown = style_of_command(word, cursor != place.end);
    } else if (place.quoted()) {
      shown = style::quoted;
    } else if (word == "&") {
      shown = style::sign;
    } else if (options_may_come && looks_like_option(word) && word.size() > 1) {
      const bool is_unknown = std::ranges::find(declared.unknown, word) != declared.unknown.end();
      shown = is_unknown ? style::unknown : style::option;
      options_may_come = word != "--";
    }
    if (!shown.empty()) styles.push_back({.begin = place.begin, .end = place.end, .style = shown});
  }
}

/// The styles of one command; byte offsets into it.
std::vector<StyledBytes> command_styles(std::string_view line, std::size_t cursor) {
  std::vector<StyledBytes> styles;
  if (is_blank_or_comment(line)) {
    const auto begin = line.find('#');
    if (begin != std::string_view::npos)
      styles.push_back({.begin = begin, .end = line.size(), .style = style::comment});
    return styles;
  }
  const auto operators = operators_in(line);
  const auto end = operators.empty() ? line.size() : operators.front().begin;
  style_words(line.substr(0, end), cursor, styles);
  style_operators(line, styles);
  // Files, and a program's words.
  for (auto place = word_place_from(line, end); place; place = word_place_from(line, place->end))
    if (place->quoted())
      styles.push_back({.begin = place->begin, .end = place->end, .style = style::quoted});
  std::ranges::sort(styles, {}, &StyledBytes::begin);
  return styles;
}

/// Options may be anywhere, but after paths they are rarely wanted. Many options would hide what
/// follows them.
std::vector<std::string> options_ahead(const std::vector<Argument>& arguments,
                                       const GivenWords& given) {
  if (!given.positionals.empty() || given.options_ended) return {};
  constexpr std::size_t most = 5;
  std::vector<std::string> options;
  for (const auto& argument : arguments) {
    if (argument.positional() || argument.legacy || argument.common) continue;
    if (std::ranges::count(given.options, &argument, &GivenWords::Option::option) == 0)
      options.push_back(argument.syntax());
  }
  return options.size() > most ? std::vector<std::string>{"[option…]"} : options;
}

std::string arguments_ahead(const std::vector<Argument>& arguments, const GivenWords& given) {
  auto words = options_ahead(arguments, given);
  if (given.awaiting)
    words.insert(words.begin(), given.awaiting->value.empty() ? "value" : given.awaiting->value);
  std::size_t index = 0;
  for (const auto& argument : arguments) {
    if (!argument.positional() || argument.legacy) continue;
    const bool is_program = argument.kind == Argument::Kind::Program;
    const bool is_given = is_program ? given.options_ended : index < given.positionals.size();
    if (!is_given)
      words.push_back(argument.syntax());
    else if (argument.takes_rest())
      words.push_back('[' + argument.names.front() + "…]");
    if (!is_program) ++index;
  }
  return fmt::format("{}", fmt::join(words, " "));
}

/// What is missing after the last operator of a line.
std::string target_ahead(const Operator& sign, std::string_view behind) {
  const bool missing = sign.names_file() || sign.kind == Operator::Kind::Program;
  if (!missing || !trimmed(behind).empty()) return {};
  return std::string(behind.empty() ? " " : "") + (sign.names_file() ? "file" : "program");
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
      in_program = in_program || (is_pipe && styled.style == style::sign);
      styled.begin += part.begin;
      styled.end += part.begin;
      styles.push_back(styled);
    }
  }
  return styles;
}

std::string syntax_ahead(std::string_view line) {
  if (const auto operators = operators_in(line); !operators.empty())
    return target_ahead(operators.back(), line.substr(operators.back().end));
  const auto typed = split_typed(line);
  if (!typed) return {};
  auto words = texts_of(typed->words);
  const bool in_word = typed->last.end > typed->last.begin;
  if (in_word) words.push_back(typed->last.text);
  const auto* command = words.empty() ? nullptr : command_named(words.front());
  if (!command) return {};
  const auto arguments = command->arguments();
  std::vector<bool> quoted;
  for (std::size_t i = 1; i < typed->words.size(); ++i) quoted.push_back(typed->words[i].quoted);
  quoted.push_back(typed->quote != '\0');
  const bool half_an_option = in_word && !quoted.back() && words.size() > 1 &&
                              words.back().size() < 3 && looks_like_option(words.back()) &&
                              option_word(arguments, words.back()).named.empty();
  if (half_an_option) return {};
  auto ahead =
      arguments_ahead(arguments, given_words(arguments, std::span(words).subspan(1), quoted));
  if (in_word && !ahead.empty()) ahead.insert(0, 1, ' ');
  return ahead;
}

LineHint line_hint(std::string_view text, std::string_view history_rest) {
  const auto line = text.substr(parts_of(text, PartBy::Command).back().begin);
  auto syntax = syntax_ahead(line);
  const auto places = word_places(line);
  if (!history_rest.empty() && (syntax.empty() || places.size() > 1))
    return {.text = std::string(history_rest), .takeable = true};
  return {.text = std::move(syntax), .takeable = false};
}

}  // namespace zksh
