// GivenWords: classifies the words of a command line: options, their values, arguments.
#include "command/given_words.h"

#include "base/suggestions.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

namespace zksh {
namespace {

bool takes_value(const Argument& argument) { return argument.kind != Argument::Kind::Flag; }

const Argument* find_option(const std::vector<Argument>& arguments, std::string_view name) {
  for (const auto& argument : arguments)
    if (!argument.positional() && std::ranges::find(argument.names, name) != argument.names.end())
      return &argument;
  return nullptr;
}

/// zkCli's own options have one dash ("-add"), but users may write two; for others, one.
const Argument* find_long_option(const std::vector<Argument>& arguments, std::string_view name) {
  if (name.size() < 3) return nullptr;
  if (name.starts_with("--"))
    return name.size() > 3 ? find_option(arguments, name.substr(1)) : nullptr;
  return find_option(arguments, '-' + std::string(name));
}

/// Letters after one dash: flags, the last of which may be an option with its value.
OptionWord cluster(const std::vector<Argument>& arguments, const std::string& word) {
  OptionWord found{.named = {}, .known = word.size() > 1 && word[1] != '-'};
  for (std::size_t i = 1; i < word.size(); ++i) {
    if (word[i] == '=' && !found.named.empty()) {
      found.named.back().value = word.substr(i + 1);
      return found;
    }
    const auto* const option = find_option(arguments, std::string{'-', word[i]});
    if (!option) return {.named = {}, .known = false};
    found.named.push_back({option});
    if (!takes_value(*option)) continue;
    const auto rest = word.substr(i + 1);
    if (!rest.empty()) found.named.back().value = rest.substr(rest.front() == '=' ? 1 : 0);
    return found;
  }
  return found;
}

}  // namespace

bool looks_like_option(std::string_view word) {
  return word.starts_with('-') &&
         (word.size() == 1 || std::isdigit(static_cast<unsigned char>(word[1])) == 0);
}

const Argument* OptionWord::awaiting() const {
  if (named.empty() || named.back().value || !takes_value(*named.back().option)) return nullptr;
  return named.back().option;
}

OptionWord option_word(const std::vector<Argument>& arguments, const std::string& word) {
  const auto equals = word.find('=');
  const auto name = word.substr(0, equals);
  const auto* option = find_option(arguments, name);
  if (!option) {
    const auto* const long_option = find_long_option(arguments, name);
    // "-server" is not "-s erver".
    if (auto letters = cluster(arguments, word);
        letters.known && !(long_option && letters.named.back().value))
      return letters;
    option = long_option;
  }
  if (!option) return {.named = {}, .known = false};
  if (equals == std::string::npos) return {.named = {{option}}};
  return {.named = {{option, word.substr(equals + 1)}}};
}

GivenWords given_words(const std::vector<Argument>& arguments, std::span<const std::string> words) {
  GivenWords given;
  const auto program = std::ranges::find(arguments, Argument::Kind::Program, &Argument::kind);
  if (program != arguments.end()) given.program = &*program;
  for (const auto& word : words) {
    if (given.options_ended && given.program) {
      ++given.program_words;
    } else if (given.awaiting) {
      given.options.back().value = word;
      given.options.back().apart = true;
      given.awaiting = nullptr;
    } else if (word == "--" && !given.options_ended) {
      given.options_ended = given.marked = true;
    } else if (!given.options_ended && looks_like_option(word) && word.size() > 1) {
      const auto found = option_word(arguments, word);
      for (const auto& [option, value] : found.named)
        given.options.push_back({option, value, word});
      if (!found.known) given.unknown.push_back(word);
      given.awaiting = found.awaiting();
    } else if (given.may_begin_program() && !positional_at(arguments, given.positionals.size())) {
      given.options_ended = true;
      ++given.program_words;
    } else {
      given.positionals.push_back(word);
    }
  }
  return given;
}

const Argument* positional_at(const std::vector<Argument>& arguments, std::size_t index) {
  for (const auto& argument : arguments) {
    if (!argument.positional() || argument.kind == Argument::Kind::Program) continue;
    if (index == 0 || argument.takes_rest()) return &argument;
    --index;
  }
  return nullptr;
}

std::string unknown_option_text(const std::vector<Argument>& arguments, const std::string& word) {
  std::vector<std::string> known;
  for (const auto& argument : arguments)
    if (!argument.positional())
      known.insert(known.end(), argument.names.begin(), argument.names.end());
  // Single letters resemble each other; only a longer word tells what was meant.
  const auto similar = word.size() > 3 ? suggestions(word, known) : std::vector<std::string>{};
  return fmt::format("unknown option {}{}", word,
                     similar.empty() ? "" : fmt::format("; did you mean {}?", similar.front()));
}

}  // namespace zksh
