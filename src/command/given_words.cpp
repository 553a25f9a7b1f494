// GivenWords: classifies the words of a command line: options, their values, arguments.
#include "command/given_words.h"

#include "base/number.h"

#include <algorithm>
#include <cctype>

namespace zksh {
namespace {

/// zkCli's own long options have one dash ("-add"), others have two; users may write either.
const Argument* find_long_option(const std::vector<Argument>& arguments, std::string_view name) {
  if (name.size() < 3) return nullptr;
  if (name.starts_with("--"))
    return name.size() > 3 ? option_named(arguments, name.substr(1)) : nullptr;
  return option_named(arguments, '-' + std::string(name));
}

/// Letters after one dash: flags, the last of which may be an option with its value.
OptionWord cluster(const std::vector<Argument>& arguments, const std::string& word) {
  OptionWord found;
  for (std::size_t i = 1; i < word.size(); ++i) {
    if (word[i] == '=' && !found.named.empty()) {
      found.named.back().value = word.substr(i + 1);
      return found;
    }
    const auto* const option = option_named(arguments, std::string{'-', word[i]});
    if (!option) return {};
    found.named.push_back({option});
    if (!option->takes_value()) continue;
    const auto rest = word.substr(i + 1);
    if (!rest.empty()) found.named.back().value = rest.substr(rest.front() == '=' ? 1 : 0);
    return found;
  }
  return found;
}

}  // namespace

const Argument* option_named(const std::vector<Argument>& arguments, std::string_view name) {
  const auto found = std::ranges::find_if(arguments, [&](const Argument& argument) {
    return !argument.positional() &&
           std::ranges::find(argument.names, name) != argument.names.end();
  });
  return found == arguments.end() ? nullptr : &*found;
}

bool looks_like_option(std::string_view word) {
  return word.starts_with('-') &&
         (word.size() == 1 || std::isdigit(static_cast<unsigned char>(word[1])) == 0);
}

const Argument* OptionWord::awaiting() const {
  if (named.empty() || named.back().value || !named.back().option->takes_value()) return nullptr;
  return named.back().option;
}

OptionWord option_word(const std::vector<Argument>& arguments, const std::string& word) {
  const auto equals = word.find('=');
  const auto name = word.substr(0, equals);
  const auto* option = option_named(arguments, name);
  if (!option) {
    const auto* const long_option = find_long_option(arguments, name);
    // "-server" is not "-s erver".
    if (auto letters = cluster(arguments, word);
        !letters.named.empty() && !(long_option && letters.named.back().value))
      return letters;
    option = long_option;
  }
  if (!option) return {};
  if (equals == std::string::npos) return {.named = {{option}}};
  return {.named = {{option, word.substr(equals + 1)}}};
}

GivenWords given_words(const std::vector<Argument>& arguments, std::span<const std::string> words,
                       const std::vector<bool>& quoted) {
  GivenWords given;
  const auto program = std::ranges::find(arguments, Argument::Kind::Program, &Argument::kind);
  if (program != arguments.end()) given.program = &*program;
  const bool has_line = std::ranges::count(arguments, Argument::Kind::Line, &Argument::kind) > 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& word = words[i];
    const bool data = i < quoted.size() && quoted[i];
    if (given.options_ended && given.program) {
      ++given.program_words;
    } else if (given.awaiting) {
      given.options.back().value = word;
      given.options.back().apart = !data;
      given.awaiting = nullptr;
    } else if (word == "--" && !data && !given.options_ended) {
      given.options_ended = given.marked = true;
    } else if (!given.options_ended && !data && looks_like_option(word) && word.size() > 1) {
      const auto found = option_word(arguments, word);
      for (const auto& [option, value] : found.named)
        given.options.push_back({option, value, word});
      if (found.named.empty()) {
        if (given.unknown.empty()) given.before_unknown = given.positionals.size();
        given.unknown.push_back(word);
      }
      given.awaiting = found.awaiting();
    } else if (given.may_begin_program() && !positional_at(arguments, given.positionals.size())) {
      given.options_ended = true;
      ++given.program_words;
    } else {
      given.positionals.push_back(word);
      given.quoted.push_back(data);
      given.bare.push_back(!data && !given.options_ended);
      // What follows are the options of the line's command.
      if (has_line && (given.positionals.size() > 1 || !is_number(word)))
        given.options_ended = true;
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

}  // namespace zksh
