// Options: what is declared, and the variables that are bound to it.
#include "command/options.h"

#include "base/number.h"
#include "base/suggestions.h"
#include "command/argument.h"
#include "command/given_words.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace zksh {
namespace {

/// Takes an option's value (of a flag, an empty one), or a positional's word. May throw UsageError.
using WordTaker = std::function<void(const std::string&)>;

/// Binds the words of one command line, those of a program behind `--` left out.
class WordBinding {
 public:
  /// `takers`: that of each argument, in the order of `arguments`. Both outlive it.
  WordBinding(const std::vector<Argument>& arguments, const std::vector<WordTaker>& takers)
      : arguments_(arguments), takers_(takers) {}

  /// Binds the options and returns the words that are none. Throws UsageError.
  std::vector<std::string> bind_options(std::vector<std::string> words) const;
  /// Binds the positional words and returns those that no argument took. Throws SyntaxError when
  /// there are too few.
  std::vector<std::string> bind_positionals(const std::vector<std::string>& words) const;

 private:
  std::string missing_text() const;
  void spread_values(std::vector<std::string>& words) const;
  void lengthen_dashes(std::vector<std::string>& words) const;
  void check_values(const std::vector<std::string>& words) const;
  void refuse_flag_values(const std::vector<std::string>& words) const;
  const Argument* option(const std::string& name) const;
  [[noreturn]] void reject(const std::string& word, const std::vector<std::string>& words) const;

  const std::vector<Argument>& arguments_;
  const std::vector<WordTaker>& takers_;
};

/// zkCli's "-add", a single dash before a whole word, is "--add" to CLI11.
bool is_one_dash_word(std::string_view name) {
  return name.size() > 2 && name[0] == '-' && name[1] != '-';
}

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

std::vector<std::string> split_names(std::string_view names) {
  std::vector<std::string> all;
  while (true) {
    const auto comma = names.find(',');
    all.emplace_back(names.substr(0, comma));
    if (comma == std::string_view::npos) return all;
    names.remove_prefix(comma + 1);
  }
}

/// zkCli's parser takes one pair of double quotes off an option's value.
std::string unquoted(const std::string& value) {
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
    return value.substr(1, value.size() - 2);
  return value;
}

}  // namespace

struct Options::Impl {
  std::vector<Argument> arguments;
  /// In the order of `arguments`.
  std::vector<WordTaker> takers;
  std::vector<std::string>* program = nullptr;
  std::vector<std::string> surplus;
  bool next_is_legacy = false;
  bool next_is_common = false;

  Argument& add(Argument argument, WordTaker taker) {
    argument.legacy = std::exchange(next_is_legacy, false);
    argument.common = std::exchange(next_is_common, false);
    takers.push_back(std::move(taker));
    return arguments.emplace_back(std::move(argument));
  }
};

Options::Options() : impl_(std::make_unique<Impl>()) {}
Options::~Options() = default;

Options& Options::legacy() {
  impl_->next_is_legacy = true;
  return *this;
}

Options& Options::common() {
  impl_->next_is_common = true;
  return *this;
}

void Options::flag(std::string_view names, bool& target, std::string_view help) {
  impl_->add({.kind = Argument::Kind::Flag, .names = split_names(names), .help = std::string(help)},
             [&target](const std::string&) { target = true; });
}

namespace {

template <class T>
WordTaker number_taker(std::optional<T>& target, std::string what) {
  return [&target, what = std::move(what)](const std::string& word) {
    if (target) return;  // given twice: the first counts, as in zkCli
    target = static_cast<T>(parse_number(unquoted(word), what, std::numeric_limits<T>::min(),
                                         std::numeric_limits<T>::max()));
  };
}

WordTaker text_taker(std::optional<std::string>& target) {
  return [&target](const std::string& word) {
    if (!target) target = word;
  };
}

/// The place of a name among the choices, in upper or lower case; their number: it is none of them.
std::size_t place_of(const std::string& word, const std::vector<std::string>& choices) {
  const auto lower = [](char letter) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  };
  const auto found = std::ranges::find_if(choices, [&](const std::string& choice) {
    return std::ranges::equal(word, choice, {}, lower, lower);
  });
  return static_cast<std::size_t>(found - choices.begin());
}

std::size_t chosen(const std::string& word, const Argument& argument) {
  const auto& choices = argument.choices;
  if (const auto place = place_of(word, choices); place < choices.size()) return place;
  std::string known;
  for (std::size_t i = 0; i < choices.size(); ++i)
    known += (i == 0 ? "" : i + 1 == choices.size() ? " and " : ", ") + choices[i];
  throw SyntaxError(fmt::format("no such {}: \"{}\"; there are {}", argument.value, word, known));
}

WordTaker text_taker(std::string& target) {
  return [&target](const std::string& word) { target = word; };
}

Argument described(Argument::Kind kind, std::string_view names, std::string_view help,
                   std::string_view value = {}) {
  return {.kind = kind,
          .names = split_names(names),
          .value = std::string(value),
          .help = std::string(help)};
}

Argument required(Argument argument) {
  argument.required = true;
  return argument;
}

}  // namespace

void Options::number(std::string_view names, std::optional<std::int32_t>& target,
                     std::string_view value, std::string_view help) {
  auto argument = described(Argument::Kind::Number, names, help, value);
  auto taker = number_taker(target, argument.names.front());
  impl_->add(std::move(argument), std::move(taker));
}

void Options::number(std::string_view names, std::optional<std::int64_t>& target,
                     std::string_view value, std::string_view help) {
  auto argument = described(Argument::Kind::Number, names, help, value);
  auto taker = number_taker(target, argument.names.front());
  impl_->add(std::move(argument), std::move(taker));
}

void Options::text(std::string_view names, std::string& target, std::string_view help) {
  impl_->add(required(described(Argument::Kind::Text, names, help)), text_taker(target));
}

void Options::text(std::string_view names, std::optional<std::string>& target,
                   std::string_view help, std::string_view value) {
  impl_->add(described(Argument::Kind::Text, names, help, value), text_taker(target));
}

void Options::choice_of(std::string_view names, std::vector<std::string> choices, Choose choose,
                        std::string_view value, std::string_view help) {
  auto argument = described(Argument::Kind::Choice, names, help, value);
  argument.choices = std::move(choices);
  auto taker = [argument, choose = std::move(choose)](const std::string& word) {
    choose(chosen(word, argument));
  };
  impl_->add(std::move(argument), std::move(taker));
}

void Options::choice_or_text_of(std::string_view names, std::vector<std::string> choices,
                                Choose choose, std::optional<std::string>& text,
                                std::string_view value, std::string_view help) {
  auto argument = described(Argument::Kind::Text, names, help, value);
  argument.choices = std::move(choices);
  auto taker = [known = argument.choices, choose = std::move(choose),
                otherwise = text_taker(text)](const std::string& word) {
    if (const auto place = place_of(word, known); place < known.size())
      choose(place);
    else
      otherwise(word);
  };
  impl_->add(std::move(argument), std::move(taker));
}

void Options::require() { impl_->arguments.back().required = true; }

void Options::word_of(std::string_view name, std::optional<std::string>& target,
                      std::vector<std::string> known, std::string_view help) {
  auto argument = described(Argument::Kind::Choice, name, help);
  argument.choices = std::move(known);
  impl_->add(std::move(argument), text_taker(target));
}

void Options::node(std::string_view name, std::string& target, std::string_view help) {
  impl_->add(required(described(Argument::Kind::NodePath, name, help)), text_taker(target));
}

void Options::node(std::string_view name, std::optional<std::string>& target,
                   std::string_view help) {
  impl_->add(described(Argument::Kind::NodePath, name, help), text_taker(target));
}

void Options::nodes(std::string_view name, std::vector<std::string>& target, std::string_view help,
                    bool required) {
  auto argument = described(Argument::Kind::NodePaths, name, help);
  argument.required = required;
  impl_->add(std::move(argument), [&target](const std::string& word) { target.push_back(word); });
}

void Options::acl(std::string_view name, std::string& target, std::string_view help) {
  impl_->add(required(described(Argument::Kind::AclList, name, help)), text_taker(target));
}

void Options::acl(std::string_view name, std::optional<std::string>& target,
                  std::string_view help) {
  impl_->add(described(Argument::Kind::AclList, name, help), text_taker(target));
}

void Options::file(std::string_view name, std::string& target, std::string_view help) {
  impl_->add(required(described(Argument::Kind::File, name, help)), text_taker(target));
}

void Options::file(std::string_view names, std::optional<std::string>& target,
                   std::string_view help, std::string_view value) {
  impl_->add(described(Argument::Kind::File, names, help, value), text_taker(target));
}

void Options::words(std::string_view name, std::vector<std::string>& target, std::string_view help,
                    bool required) {
  auto argument = described(Argument::Kind::Words, name, help);
  argument.required = required;
  impl_->add(std::move(argument), [&target](const std::string& word) { target.push_back(word); });
}

void Options::complete_as(Argument::Kind kind) { impl_->arguments.back().kind = kind; }

void Options::suggest(std::vector<std::string> values) {
  impl_->arguments.back().choices = std::move(values);
}

void Options::suggest_after(std::map<std::string, std::vector<std::string>, std::less<>> values) {
  impl_->arguments.back().choices_after = std::move(values);
}

void Options::program(std::vector<std::string>& target, std::string_view help) {
  impl_->program = &target;
  auto argument = described(Argument::Kind::Program, "program", help);
  argument.marked = std::ranges::any_of(impl_->arguments, [](const Argument& before) {
    return before.positional() && (!before.required || before.takes_rest());
  });
  impl_->add(std::move(argument), [&target](const std::string& word) { target.push_back(word); });
}

void Options::parse(const std::vector<std::string>& words) {
  const auto own = words.begin() + static_cast<std::ptrdiff_t>(own_words(impl_->arguments, words));
  const auto mark = std::find(words.begin(), own, "--");
  const WordBinding binding(impl_->arguments, impl_->takers);
  auto positionals = binding.bind_options({words.begin(), mark});
  // An empty variable in a script must not look like a program that went well.
  if (impl_->program && mark != own && own == words.end())
    throw UsageError("there is no program after --");
  if (impl_->program)
    impl_->program->assign(own, words.end());
  else if (mark != own)
    positionals.insert(positionals.end(), mark + 1, own);
  impl_->surplus = binding.bind_positionals(positionals);
}

const std::vector<std::string>& Options::surplus() const { return impl_->surplus; }

std::vector<std::string> Options::program_words() const {
  return impl_->program ? *impl_->program : std::vector<std::string>{};
}

const std::vector<Argument>& Options::arguments() const { return impl_->arguments; }

std::string Options::syntax() const {
  std::string text;
  for (const bool positional : {false, true})
    for (const auto& argument : impl_->arguments) {
      if (argument.legacy || argument.common || argument.positional() != positional) continue;
      if (!text.empty()) text += ' ';
      text += argument.syntax();
    }
  return text;
}

}  // namespace zksh
