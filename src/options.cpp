// Options: declaring a command's arguments once, on CLI11.
#include "options.h"

#include "nearest.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <utility>

namespace zksh {
namespace {

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

/// zkCli's "-add", a single dash before a whole word, is "--add" to CLI11.
bool is_one_dash_word(std::string_view name) {
  return name.size() > 2 && name[0] == '-' && name[1] != '-';
}

}  // namespace

struct Options::Impl {
  std::vector<Argument> arguments;
  /// Takes an option's value, or a positional's word; in the order of `arguments`.
  std::vector<std::function<void(const std::string&)>> takers;
  std::vector<std::string>* program = nullptr;
  std::vector<std::string> surplus;
  bool next_is_legacy = false;
  bool next_is_common = false;

  Argument& add(Argument argument, std::function<void(const std::string&)> taker) {
    argument.legacy = std::exchange(next_is_legacy, false);
    argument.common = std::exchange(next_is_common, false);
    takers.push_back(std::move(taker));
    return arguments.emplace_back(std::move(argument));
  }
  std::string missing_text() const;
  void bind_positionals(const std::vector<std::string>& words);
  std::vector<std::string> bind_options(std::vector<std::string> words) const;
  void spread_values(std::vector<std::string>& words) const;
  void lengthen_dashes(std::vector<std::string>& words) const;
  void check_values(const std::vector<std::string>& words) const;
  void refuse_flag_values(const std::vector<std::string>& words) const;
  const Argument* option(const std::string& name) const;
  [[noreturn]] void reject(const std::string& word, const std::vector<std::string>& words) const;
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
std::function<void(const std::string&)> number_taker(std::optional<T>& target, std::string what) {
  return [&target, what = std::move(what)](const std::string& word) {
    if (target) return;  // given twice: the first counts, as in zkCli
    target = static_cast<T>(parse_number(unquoted(word), what, std::numeric_limits<T>::min(),
                                         std::numeric_limits<T>::max()));
  };
}

std::function<void(const std::string&)> text_taker(std::optional<std::string>& target) {
  return [&target](const std::string& word) {
    if (!target) target = word;
  };
}

/// In upper or lower case.
std::string chosen(const std::string& word, const Argument& argument) {
  const auto lower = [](char letter) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  };
  std::string known;
  const auto& choices = argument.choices;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (std::ranges::equal(word, choices[i], {}, lower, lower)) return choices[i];
    known += (i == 0 ? "" : i + 1 == choices.size() ? " and " : ", ") + choices[i];
  }
  throw SyntaxError(fmt::format("no such {}: \"{}\"; there are {}", argument.value, word, known));
}

std::function<void(const std::string&)> text_taker(std::string& target) {
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

void Options::choice(std::string_view names, std::optional<std::string>& target,
                     std::vector<std::string> choices, std::string_view value,
                     std::string_view help) {
  auto argument = described(Argument::Kind::Choice, names, help, value);
  argument.choices = std::move(choices);
  // What another word means as a positional is the command's own matter.
  auto taker =
      argument.positional() ? text_taker(target) : [&target, argument](const std::string& word) {
        if (!target) target = chosen(word, argument);
      };
  impl_->add(std::move(argument), std::move(taker));
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
  impl_->add(described(Argument::Kind::Program, "program", help),
             [&target](const std::string& word) { target.push_back(word); });
}

/// Turns "-v=5" into "-v" "5", which CLI11 knows and commons-cli's users write.
void Options::Impl::spread_values(std::vector<std::string>& words) const {
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
void Options::Impl::lengthen_dashes(std::vector<std::string>& words) const {
  for (auto& word : words)
    for (const auto& argument : arguments)
      for (const auto& name : argument.names)
        if (is_one_dash_word(name) && word.starts_with(name) &&
            (word.size() == name.size() || word[name.size()] == '='))
          word.insert(0, 1, '-');
}

/// The option of this name, with its dashes; null when there is none.
const Argument* Options::Impl::option(const std::string& name) const {
  for (const auto& argument : arguments)
    if (!argument.positional() && std::ranges::find(argument.names, name) != argument.names.end())
      return &argument;
  return nullptr;
}

/// CLI11 knows --flag=false. Who writes that means a word with which something is switched off, and
/// -y=false must not be less than a mistake.
void Options::Impl::refuse_flag_values(const std::vector<std::string>& words) const {
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
void Options::Impl::check_values(const std::vector<std::string>& words) const {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const auto* named = option(words[i]);
    if (!named || named->kind == Argument::Kind::Flag) continue;
    if (option(words[i + 1])) throw UsageError(fmt::format("the value of {} is missing", words[i]));
    ++i;
  }
}

/// `word` may be what CLI11 left of a cluster: the message names the word that was typed.
void Options::Impl::reject(const std::string& word, const std::vector<std::string>& words) const {
  auto typed = std::ranges::find(words, word);
  if (typed == words.end())
    typed = std::ranges::find_if(words, [&](const std::string& candidate) {
      return candidate.starts_with('-') && candidate.find(word.substr(1)) != std::string::npos;
    });
  std::vector<std::string> known;
  for (const auto& argument : arguments)
    if (!argument.positional())
      known.insert(known.end(), argument.names.begin(), argument.names.end());
  // Any letter is near any other: only a longer word says what was meant.
  const auto similar = word.size() > 2 ? nearest(word, known) : std::vector<std::string>{};
  throw UsageError(
      fmt::format("unknown option {}{}", typed == words.end() ? word : *typed,
                  similar.empty() ? "" : fmt::format("; did you mean {}?", similar.front())));
}

/// Binds the options and returns the words that are none.
std::vector<std::string> Options::Impl::bind_options(std::vector<std::string> words) const {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  auto taker = takers.begin();
  for (const auto& argument : arguments) {
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
             [take = take_value](const std::vector<std::string>& values) { take(values.front()); })
          ->expected(1)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeFirst)
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

std::string Options::Impl::missing_text() const {
  std::string names;
  for (const auto& argument : arguments)
    if (argument.required) names += (names.empty() ? "" : " ") + argument.names.front();
  return fmt::format("too few arguments: {} expected", names);
}

void Options::Impl::bind_positionals(const std::vector<std::string>& words) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& argument = arguments[i];
    if (!argument.positional() || argument.kind == Argument::Kind::Program) continue;
    if (argument.required && next >= words.size()) throw SyntaxError(missing_text());
    if (argument.takes_rest()) {
      while (next < words.size()) takers[i](words[next++]);
    } else if (next < words.size()) {
      const bool old_number = argument.legacy && argument.kind == Argument::Kind::Number;
      if (!old_number || is_number(words[next])) takers[i](words[next++]);
    }
  }
  surplus.assign(words.begin() + static_cast<std::ptrdiff_t>(next), words.end());
}

void Options::parse(const std::vector<std::string>& words) {
  const auto mark = std::ranges::find(words, "--");
  auto positionals = impl_->bind_options({words.begin(), mark});
  if (mark != words.end()) {
    // An empty variable in a script must not look like a program that went well.
    if (impl_->program && mark + 1 == words.end())
      throw UsageError("the program behind -- is missing");
    if (impl_->program)
      impl_->program->assign(mark + 1, words.end());
    else
      positionals.insert(positionals.end(), mark + 1, words.end());
  }
  impl_->bind_positionals(positionals);
}

const std::vector<std::string>& Options::surplus() const { return impl_->surplus; }

std::vector<std::string> Options::program_words() const {
  return impl_->program ? *impl_->program : std::vector<std::string>{};
}

const std::vector<Argument>& Options::arguments() const { return impl_->arguments; }

std::string Options::syntax() const {
  std::string text;
  for (const bool positional : {false, true})
    for (const auto& argument : impl_->arguments)
      if (!argument.legacy && !argument.common && argument.positional() == positional)
        text += (text.empty() ? "" : " ") + argument.syntax();
  return text;
}

}  // namespace zksh
