// Options: what is declared, and the variables that are bound to it.
#include "command/options.h"

#include "command/given_words.h"
#include "command/word_binding.h"

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
    throw UsageError("the program behind -- is missing");
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
