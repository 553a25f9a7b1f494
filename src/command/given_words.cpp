// Given words: what the words of a command line that have been typed are to the command.
#include "command/given_words.h"

#include <algorithm>
#include <cctype>

namespace zksh {
namespace {

bool takes_value(const Argument& argument) { return argument.kind != Argument::Kind::Flag; }

const Argument* program_of(const std::vector<Argument>& arguments) {
  const auto found = std::ranges::find(arguments, Argument::Kind::Program, &Argument::kind);
  return found == arguments.end() ? nullptr : &*found;
}

}  // namespace

bool looks_like_option(std::string_view word) {
  return word.starts_with('-') &&
         (word.size() == 1 || std::isdigit(static_cast<unsigned char>(word[1])) == 0);
}

const Argument* find_option(const std::vector<Argument>& arguments, std::string_view word) {
  for (const auto& argument : arguments)
    for (const auto& name : argument.names)
      if (!argument.positional() &&
          (name == word ||
           (word.size() > 2 && ('-' + std::string(word) == name || '-' + name == word))))
        return &argument;
  return nullptr;
}

bool GivenOption::awaits_value() const { return option && takes_value(*option) && !value; }

GivenOption option_in(const std::vector<Argument>& arguments, const std::string& word) {
  if (const auto* option = find_option(arguments, word)) return {.option = option};
  if (!looks_like_option(word)) return {};
  if (const auto equals = word.find('='); equals != std::string::npos)
    return {.option = find_option(arguments, word.substr(0, equals)),
            .value = word.substr(equals + 1)};
  GivenOption last;
  for (std::size_t i = 1; i < word.size(); ++i) {
    last.option = find_option(arguments, std::string{'-', word[i]});
    if (!last.option) break;
    if (takes_value(*last.option)) {
      if (i + 1 < word.size()) last.value = word.substr(i + 1);
      break;
    }
  }
  return last;
}

GivenWords given_words(const std::vector<Argument>& arguments, std::span<const std::string> words) {
  GivenWords all;
  all.program = program_of(arguments);
  for (const auto& word : words) {
    const auto given =
        all.options_ended || all.awaiting ? GivenOption{} : option_in(arguments, word);
    if (given.option) all.options.push_back(given.option);
    if (all.options_ended && all.program)
      ++all.program_words;
    else if (all.awaiting)
      all.awaiting = nullptr;
    else if (word == "--" && !all.options_ended)
      all.options_ended = true;
    else if (given.awaits_value())
      all.awaiting = given.option;
    else if (!all.options_ended && looks_like_option(word) && word.size() > 1)
      continue;
    else if (all.may_begin_program() && !positional_at(arguments, all.positionals))
      all.options_ended = ++all.program_words > 0;
    else
      ++all.positionals;
  }
  return all;
}

std::size_t own_words(const std::vector<Argument>& arguments, std::span<const std::string> words) {
  if (!program_of(arguments)) return words.size();
  return words.size() - given_words(arguments, words).program_words;
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
