// Line hint: the hint after the line being typed.
#include "shell/line_hint.h"

#include "base/words.h"
#include "command/command.h"
#include "command/given_words.h"
#include "shell/operators.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <vector>

namespace zksh {
namespace {

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

/// What is missing behind the last operator of a line.
std::string target_ahead(const Operator& sign, std::string_view behind) {
  const bool missing = sign.names_file() || sign.kind == Operator::Kind::Program;
  if (!missing || !trimmed(behind).empty()) return {};
  return std::string(behind.empty() ? " " : "") + (sign.names_file() ? "file" : "program");
}

}  // namespace

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
