// WordBinding: options by CLI11, positionals by counting.
#include "command/word_binding.h"

#include "base/number.h"
#include "base/suggestions.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <cctype>

namespace zksh {
namespace {

/// zkCli's "-add", a single dash before a whole word, is "--add" to CLI11.
bool is_one_dash_word(std::string_view name) {
  return name.size() > 2 && name[0] == '-' && name[1] != '-';
}

}  // namespace

/// Turns "-v=5" into "-v" "5", which CLI11 knows and commons-cli's users write.
void WordBinding::spread_values(std::vector<std::string>& words) const {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].size() < 3 || words[i][0] != '-' || words[i][2] != '=') continue;
    const auto name = words[i].substr(0, 2);
    const auto* named = option(name);
    if (!named || named->kind == Argument::Kind::Flag) continue;
    const auto value = words[i].substr(3);
    words[i] = name;
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(++i), value);
  }
}

/// Turns "-add" and "-add=x" into "--add" and "--add=x", where such an option exists.
void WordBinding::lengthen_dashes(std::vector<std::string>& words) const {
  for (auto& word : words)
    for (const auto& argument : arguments_)
      for (const auto& name : argument.names)
        if (is_one_dash_word(name) && word.starts_with(name) &&
            (word.size() == name.size() || word[name.size()] == '='))
          word.insert(0, 1, '-');
}

/// The option of this name, with its dashes; null when there is none.
const Argument* WordBinding::option(const std::string& name) const {
  for (const auto& argument : arguments_)
    if (!argument.positional() && std::ranges::find(argument.names, name) != argument.names.end())
      return &argument;
  return nullptr;
}

/// CLI11 knows --flag=false. Who writes that means a word with which something is switched off, and
/// -y=false must not be less than a mistake.
void WordBinding::refuse_flag_values(const std::vector<std::string>& words) const {
  const auto is_flag = [&](const std::string& name) {
    const auto* named = option(name);
    return named && named->kind == Argument::Kind::Flag;
  };
  for (const auto& word : words) {
    if (word.size() < 2 || word.front() != '-') continue;
    const auto end = std::find_if_not(word.begin() + 1, word.end(), [&](char letter) {
      return is_flag({'-', letter});
    });
    if (end == word.end()) continue;
    const bool cluster = end != word.begin() + 1;
    const auto name = word.substr(0, word.find('='));
    if ((cluster && *end == '=') || (name != word && is_flag(name)))
      throw UsageError(fmt::format("{} takes no value", name));
    // CLI11 would leave "-1" of "-s1", which is data where it stands alone.
    if (cluster && std::isdigit(static_cast<unsigned char>(*end))) reject(word, words);
  }
}

/// CLI11 would take another option for a value; zkCli's parser misses the value then, and what was
/// forgotten is the value more often than a value looks like an option.
void WordBinding::check_values(const std::vector<std::string>& words) const {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const auto* named = option(words[i]);
    if (!named || named->kind == Argument::Kind::Flag) continue;
    if (option(words[i + 1])) throw UsageError(fmt::format("the value of {} is missing", words[i]));
    ++i;
  }
}

/// `word` may be what CLI11 left of a cluster: the message names the word that was typed.
void WordBinding::reject(const std::string& word, const std::vector<std::string>& words) const {
  auto typed = std::ranges::find(words, word);
  if (typed == words.end())
    typed = std::ranges::find_if(words, [&](const std::string& candidate) {
      return candidate.starts_with('-') && candidate.find(word.substr(1)) != std::string::npos;
    });
  std::vector<std::string> known;
  for (const auto& argument : arguments_)
    if (!argument.positional())
      known.insert(known.end(), argument.names.begin(), argument.names.end());
  // Any letter is near any other: only a longer word says what was meant.
  const auto similar = word.size() > 2 ? suggestions(word, known) : std::vector<std::string>{};
  throw UsageError(
      fmt::format("unknown option {}{}", typed == words.end() ? word : *typed,
                  similar.empty() ? "" : fmt::format("; did you mean {}?", similar.front())));
}

std::vector<std::string> WordBinding::bind_options(std::vector<std::string> words) const {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  auto taker = takers_.begin();
  for (const auto& argument : arguments_) {
    const auto& take_value = *taker++;
    if (argument.positional()) continue;
    std::string names;
    for (const auto& name : argument.names)
      names += (names.empty() ? "" : ",") + std::string(is_one_dash_word(name) ? "-" : "") + name;
    if (argument.kind == Argument::Kind::Flag)
      app.add_flag_callback(names, [take = take_value] { take(""); });
    else
      app.add_option_function<std::vector<std::string>>(
             names,
             [take = take_value](const std::vector<std::string>& values) {
               std::ranges::for_each(values, take);
             })
          ->expected(1)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
          ->allow_extra_args(false);
  }
  const auto typed = words;
  check_values(words);
  refuse_flag_values(words);
  lengthen_dashes(words);
  spread_values(words);
  std::ranges::reverse(words);  // CLI11 takes them from the back
  try {
    app.parse(words);
  } catch (const CLI::ArgumentMismatch&) {
    // The only way to get here: the last word is an option that wants a value.
    throw UsageError(fmt::format("the value of {} is missing", typed.back()));
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  auto rest = app.remaining();
  for (const auto& word : rest)
    if (word.size() > 1 && word[0] == '-' && !std::isdigit(static_cast<unsigned char>(word[1])))
      reject(word, typed);
  return rest;
}

std::string WordBinding::missing_text() const {
  std::string names;
  for (const auto& argument : arguments_)
    if (argument.required) names += (names.empty() ? "" : " ") + argument.names.front();
  return fmt::format("too few arguments: {} expected", names);
}

std::vector<std::string> WordBinding::bind_positionals(
    const std::vector<std::string>& words) const {
  std::size_t next = 0;
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    const auto& argument = arguments_[i];
    if (!argument.positional() || argument.kind == Argument::Kind::Program) continue;
    if (argument.required && next >= words.size()) throw SyntaxError(missing_text());
    if (argument.takes_rest()) {
      while (next < words.size()) takers_[i](words[next++]);
    } else if (next < words.size()) {
      const bool old_number = argument.legacy && argument.kind == Argument::Kind::Number;
      // What begins as a number is meant as one: it is refused, rather than ignored.
      if (!old_number || begins_as_number(words[next])) takers_[i](words[next++]);
    }
  }
  return {words.begin() + static_cast<std::ptrdiff_t>(next), words.end()};
}

}  // namespace zksh
