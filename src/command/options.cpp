// Options: a command's arguments, declared once for parsing, help, manual page and completion.
#include "command/options.h"

#include "base/number.h"
#include "command/argument.h"
#include "command/given_words.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace zksh {
namespace {

/// Takes an option's value (empty for a flag) or a positional's word. May throw UsageError.
using WordTaker = std::function<void(const std::string&)>;

/// Lets CLI11 bind classified words: the named options, and the positional words.
class WordBinding {
 public:
  /// `takers` has one for each of `arguments`. Both must outlive this.
  WordBinding(const std::vector<Argument>& arguments, const std::vector<WordTaker>& takers);

  /// Returns the positional words that no argument took. Throws UsageError for an invalid value.
  std::vector<std::string> bind(const GivenWords& given);

 private:
  void declare_option(const Argument& argument, const WordTaker& take);
  void declare_positional(const Argument& argument, const WordTaker& take);

  CLI::App app_;
  std::size_t positionals_ = 0;           ///< declared so far
  const WordTaker* take_rest_ = nullptr;  ///< of the argument that takes all remaining words
};

WordBinding::WordBinding(const std::vector<Argument>& arguments,
                         const std::vector<WordTaker>& takers) {
  app_.set_help_flag();
  app_.allow_extras();
  app_.validate_positionals();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& argument = arguments[i];
    if (!argument.positional())
      declare_option(argument, takers[i]);
    else if (argument.takes_rest())  // CLI11 would split a word such as [1,2]
      take_rest_ = &takers[i];
    else if (argument.kind != Argument::Kind::Program)
      declare_positional(argument, takers[i]);
  }
}

/// An option's name for CLI11: zkCli's "-add" is "--add".
std::string binding_name(const Argument& argument) {
  const auto& name = argument.names.front();
  return name.size() > 2 && name[1] != '-' ? '-' + name : name;
}

void WordBinding::declare_option(const Argument& argument, const WordTaker& take) {
  const auto name = binding_name(argument);
  if (argument.kind == Argument::Kind::Flag)
    app_.add_flag_callback(name, [&take] { take(""); });
  else
    app_.add_option(name)->each(take)->expected(1)->take_all()->allow_extra_args(false);
}

void WordBinding::declare_positional(const Argument& argument, const WordTaker& take) {
  // Not its own name: CLI11 2.5 takes none such as host:port, or n beside an option -n.
  auto* const option =
      app_.add_option_function<std::string>(fmt::format("positional{}", ++positionals_), take);
  // What begins like a number is refused as one, rather than ignored.
  if (argument.legacy && argument.kind == Argument::Kind::Number)
    option->check(
        [](const std::string& word) { return begins_as_number(word) ? "" : "no number"; });
}

std::vector<std::string> WordBinding::bind(const GivenWords& given) {
  std::vector<std::string> words;
  for (const auto& option : given.options) {
    words.push_back(binding_name(*option.option));
    if (option.value) words.push_back(*option.value);
  }
  words.emplace_back("--");
  words.insert(words.end(), given.positionals.begin(), given.positionals.end());
  std::ranges::reverse(words);  // CLI11 takes them from the back
  try {
    app_.parse(words);
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  auto rest = app_.remaining();
  rest.erase(rest.begin(),
             rest.end() - static_cast<std::ptrdiff_t>(app_.remaining_size()));  // "--"
  if (!take_rest_) return rest;
  std::ranges::for_each(rest, *take_rest_);
  return {};
}

/// Throws UsageError, naming the word, for an option that cannot be bound.
void check_options(const std::vector<Argument>& arguments, const GivenWords& given) {
  if (!given.unknown.empty())
    throw UsageError(unknown_option_text(arguments, given.unknown.front()));
  for (const auto& [option, value, word, apart] : given.options) {
    const bool is_flag = option->kind == Argument::Kind::Flag;
    if (is_flag && value)
      throw UsageError(fmt::format("{} takes no value", word.substr(0, word.find('='))));
    const auto is_option = [&](const std::string& text) {
      return std::ranges::any_of(arguments, [&](const Argument& argument) {
        return std::ranges::find(argument.names, text) != argument.names.end();
      });
    };
    // A word that names an option is rarely meant as the value, which was forgotten.
    if (!is_flag && (!value || (apart && is_option(*value))))
      throw UsageError(fmt::format("{} needs a value", word));
  }
}

/// Throws SyntaxError if there are fewer positional words than the command requires. zkCli, too,
/// counts the words before it reads any value.
void check_word_count(const std::vector<Argument>& arguments, const GivenWords& given) {
  std::size_t required = 0;
  std::string names;
  for (const auto& argument : arguments) {
    if (!argument.required) continue;
    if (argument.kind != Argument::Kind::Program) ++required;
    names += (names.empty() ? "" : " ") + argument.names.front();
  }
  if (given.positionals.size() < required)
    throw SyntaxError(fmt::format("too few arguments: {} expected", names));
}

/// Throws UsageError if options are given that cannot be combined.
void check_exclusive(const std::vector<Argument>& arguments, const GivenWords& given) {
  std::set<const Argument*> chosen;
  for (const auto& [option, value, word, apart] : given.options)
    if (option->exclusive) chosen.insert(option);
  if (chosen.size() < 2) return;
  std::vector<std::string_view> names;
  for (const auto& argument : arguments)
    if (argument.exclusive) names.push_back(argument.names.front());
  const auto last = names.back();
  names.pop_back();
  throw UsageError(fmt::format("only one of {} and {} can be given", fmt::join(names, ", "), last));
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

/// Removes one pair of double quotes from an option's value, as zkCli's parser does.
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
  bool next_is_exclusive = false;

  Argument& add(Argument argument, WordTaker taker) {
    argument.legacy = std::exchange(next_is_legacy, false);
    argument.common = std::exchange(next_is_common, false);
    argument.exclusive = std::exchange(next_is_exclusive, false);
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

Options& Options::exclusive() {
  impl_->next_is_exclusive = true;
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
    if (target) return;  // if given twice, the first counts, as in zkCli
    target = static_cast<T>(parse_number(unquoted(word), what, std::numeric_limits<T>::min(),
                                         std::numeric_limits<T>::max()));
  };
}

WordTaker text_taker(std::optional<std::string>& target) {
  return [&target](const std::string& word) {
    if (!target) target = word;
  };
}

/// The index of a name among the choices, ignoring case; their number if it is none of them.
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
    known += (i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ") + choices[i];
  throw SyntaxError(fmt::format("invalid {}: \"{}\"; use {}", argument.value, word, known));
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
  auto taker = [argument, choose = std::move(choose),
                given = false](const std::string& word) mutable {
    if (!std::exchange(given, true)) choose(chosen(word, argument));  // the first counts
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
  const auto given = given_words(impl_->arguments, words);
  check_options(impl_->arguments, given);
  check_word_count(impl_->arguments, given);
  check_exclusive(impl_->arguments, given);
  // An empty variable in a script must not look like a successful program.
  if (given.program && given.marked && given.program_words == 0)
    throw UsageError("no program after --");
  if (impl_->program)
    impl_->program->assign(words.end() - static_cast<std::ptrdiff_t>(given.program_words),
                           words.end());
  impl_->surplus = WordBinding(impl_->arguments, impl_->takers).bind(given);
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
