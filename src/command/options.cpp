// Options: a command's arguments, declared once for parsing, help, manual page and completion.
#include "command/options.h"

#include "base/text.h"
#include "base/time.h"
#include "command/given_words.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <limits>
#include <set>

namespace zksh {
namespace {

/// "unknown option -x", with the closest declared name if there is one. `before`: how many
/// positional words precede it.
std::string unknown_option_text(const std::vector<Argument>& arguments, const std::string& word,
                                std::size_t before) {
  // find has -name, and zkCli -add: one dash more or less does not make another word.
  const auto without_dashes = [](const std::string& name) {
    return name.substr(std::min(name.find_first_not_of('-'), name.size()));
  };
  std::vector<std::string> known;
  std::map<std::string, std::string> names;
  for (const auto& argument : arguments)
    for (const auto& name : argument.names) {
      // Single letters resemble each other; only a longer word tells what was meant.
      if (argument.positional() || without_dashes(name).size() < 2) continue;
      known.push_back(without_dashes(name));
      names.emplace(known.back(), name);
    }
  const auto meant = without_dashes(word.substr(0, word.find('=')));
  const auto similar = meant.size() > 1 ? suggestions(meant, known) : std::vector<std::string>{};
  if (!similar.empty())
    return fmt::format("unknown option {}; did you mean {}?", word, names[similar.front()]);
  // No path begins with a dash, and this word is not one of an argument's few choices.
  const auto* const place = positional_at(arguments, before);
  const bool may_be_value =
      place && (place->kind == Argument::Kind::Text || place->kind == Argument::Kind::Words);
  return fmt::format("unknown option {}{}", word,
                     may_be_value ? " (to use it as a value, put -- before it)" : "");
}

/// What to say about an option; empty if nothing is known of it.
std::string_view remedy_for(const std::vector<ForeignOptions>& foreign, std::string_view option) {
  for (const auto& [names, remedy] : foreign)
    if (std::ranges::find(names, option) != names.end()) return remedy;
  return {};
}

/// What to say about a word that is not an option of the command: about the option that it names
/// elsewhere, or about one of the letters after its dash.
std::string foreign_option_text(const std::vector<ForeignOptions>& foreign,
                                const std::string& word) {
  auto option = word.substr(0, word.find('='));
  auto remedy = remedy_for(foreign, option);
  for (std::size_t i = 1; remedy.empty() && i < word.size() && word[1] != '-'; ++i) {
    option = {'-', word[i]};
    remedy = remedy_for(foreign, option);
  }
  return remedy.empty() ? "" : fmt::format("unknown option {}; {}", option, remedy);
}

struct UnknownOption {
  std::string word;
  std::size_t before = 0;  ///< how many positional words precede it
};

/// The first word that names no option of the command.
std::optional<UnknownOption> unknown_option(const std::vector<Argument>& arguments,
                                            const GivenWords& given,
                                            const std::vector<ForeignOptions>& foreign,
                                            bool as_zkcli) {
  if (!given.unknown.empty()) return UnknownOption{given.unknown.front(), given.before_unknown};
  for (std::size_t i = 0; i < given.positionals.size(); ++i) {
    const auto& word = given.positionals[i];
    if (!given.bare[i] || word.size() < 2 || word.front() != '-') continue;
    // A number is data, but not a node. After a node it may be the version of old zkCli's delete.
    const auto* const first = i == 0 ? positional_at(arguments, 0) : nullptr;
    const bool is_node = first && (first->kind == Argument::Kind::NodePath ||
                                   first->kind == Argument::Kind::NodePaths);
    if (is_node || (!as_zkcli && !remedy_for(foreign, word).empty())) return UnknownOption{word, i};
  }
  return std::nullopt;
}

/// Whether zkCli takes the word after an option for another option, or for the end of the options,
/// and so not for the option's value.
bool is_no_value_in_zkcli(const std::vector<Argument>& arguments, const std::string& word) {
  if (word == "--") return true;
  return looks_like_option(word) && word.size() > 1 &&
         (option_named(arguments, word.substr(0, word.find('='))) ||
          option_named(arguments, word.substr(0, 2)));
}

/// Throws UsageError, naming the word, for an option that cannot be bound.
void check_options(const std::vector<Argument>& arguments, const GivenWords& given, bool as_zkcli) {
  for (const auto& [option, value, word, apart] : given.options) {
    if (!option->takes_value() && value)
      throw UsageError(fmt::format("{} takes no value", word.substr(0, word.find('='))));
    // A word that names an option is rarely meant as the value, which was forgotten.
    if (option->takes_value() && (!value || (apart && option_named(arguments, *value)) ||
                                  (apart && as_zkcli && is_no_value_in_zkcli(arguments, *value))))
      throw UsageError(fmt::format("{} needs a value", word));
  }
}

/// Throws SyntaxError if there are fewer positional words than the command requires. zkCli, too,
/// counts the words before it reads any value.
void check_word_count(const std::vector<Argument>& arguments, const GivenWords& given) {
  std::vector<std::string_view> required;
  for (const auto& argument : arguments)
    if (argument.required) required.emplace_back(argument.names.front());
  if (given.positionals.size() < required.size())
    throw SyntaxError(fmt::format("too few arguments: {} expected", fmt::join(required, " ")));
}

/// Throws UsageError if options are given that cannot be combined. Those to which zksh has given a
/// long name exclude each other only in zkCli, which sets one limit of a quota at a time; zksh sets
/// several.
void check_exclusive(const std::vector<Argument>& arguments, const GivenWords& given,
                     bool as_zkcli) {
  std::set<const Argument*> chosen;
  for (const auto& given_option : given.options)
    if (given_option.option->exclusive && (as_zkcli || given_option.option->names.size() == 1))
      chosen.insert(given_option.option);
  if (chosen.size() < 2) return;
  std::vector<std::string_view> names;
  for (const auto& argument : arguments)
    if (argument.exclusive) names.emplace_back(argument.names.front());
  const auto last = names.back();
  names.pop_back();
  throw UsageError(fmt::format("only one of {} and {} can be given", fmt::join(names, ", "), last));
}

/// The index of a name among the choices, ignoring case; their number if it is none of them.
std::size_t place_of(const std::string& word, const std::vector<std::string>& choices) {
  const auto found = std::ranges::find_if(
      choices, [&](const std::string& choice) { return equal_ignoring_case(word, choice); });
  return static_cast<std::size_t>(found - choices.begin());
}

[[noreturn]] void refuse_choice(const std::string& word, std::string_view what,
                                std::vector<std::string> choices) {
  const auto last = std::move(choices.back());
  choices.pop_back();
  throw SyntaxError(
      fmt::format("invalid {}: \"{}\"; use {} or {}", what, word, fmt::join(choices, ", "), last));
}

/// commons-cli takes a pair of quotes off a value that is a word of its own, unless there are
/// others within.
std::string without_quotes(const std::string& value) {
  const bool has_pair = value.size() > 1 && value.front() == '"' && value.back() == '"' &&
                        std::ranges::count(value, '"') == 2;
  return has_pair ? value.substr(1, value.size() - 2) : value;
}

}  // namespace

std::string Argument::syntax() const {
  const auto& name = names.front();
  if (kind == Kind::Program) return (marked ? "[-- " : "[") + name + " [argument…]]";
  const auto shown = name + (takes_rest() ? "…" : "");
  if (positional()) return required || demanded ? shown : "[" + shown + "]";
  return "[" + name + (value.empty() ? "" : " " + value) + "]";
}

std::vector<std::string> Argument::names_in(std::string_view syntax) const {
  const auto is_letter = [&](std::size_t at) {
    return at < syntax.size() && std::isalnum(static_cast<unsigned char>(syntax[at])) != 0;
  };
  const auto is_known = [&](const std::string& name) {
    auto at = syntax.find(name);
    while (at != std::string_view::npos && is_letter(at + name.size()))
      at = syntax.find(name, at + 1);
    return at != std::string_view::npos;
  };
  std::vector<std::string> known;
  std::ranges::copy_if(names, std::back_inserter(known), is_known);
  return known;
}

std::string syntax_of(std::span<const Argument> arguments) {
  std::string text;
  for (const bool positional : {false, true})
    for (const auto& argument : arguments) {
      if (argument.legacy || argument.common || argument.positional() != positional) continue;
      if (!text.empty()) text += ' ';
      text += argument.syntax();
    }
  return text;
}

Argument& Options::add(Argument::Kind kind, std::string_view names, std::string_view value,
                       std::string_view help, WordTaker take) {
  auto& argument = arguments_.emplace_back(std::exchange(next_, {}));
  argument.kind = kind;
  for (const auto name : split(names, ',')) argument.names.emplace_back(name);
  if (!argument.positional()) argument.value = value;
  argument.help = help;
  takers_.push_back(std::move(take));
  return argument;
}

/// Passes the words to their takers, one for each argument, in the order of the declarations.
/// Returns the positional words that no argument took. Throws UsageError for an invalid value.
std::vector<std::string> Options::bind_words(const GivenWords& given) const {
  std::vector<const std::string*> taken(arguments_.size());
  std::vector<std::string> surplus;
  for (const auto& word : given.positionals) {
    const auto takes = [&](std::size_t i) {
      const auto& argument = arguments_[i];
      // In its place, what begins like a number is refused as one, rather than ignored.
      const bool fits = !argument.legacy || argument.kind != Argument::Kind::Number ||
                        (surplus.empty() && begins_as_number(word));
      return argument.takes_one_word() && !taken[i] && fits;
    };
    std::size_t i = 0;
    while (i < arguments_.size() && !takes(i)) ++i;
    if (i < arguments_.size())
      taken[i] = &word;
    else
      surplus.push_back(word);
  }
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (taken[i]) takers_[i](*taken[i]);
    for (const auto& option : given.options)
      if (option.option == &arguments_[i]) takers_[i](option.value.value_or(""));
  }
  const auto rest = std::ranges::find_if(arguments_, &Argument::takes_rest);
  if (rest == arguments_.end()) return surplus;
  std::ranges::for_each(surplus, takers_[static_cast<std::size_t>(rest - arguments_.begin())]);
  return {};
}

void Options::keep_names_in(std::string_view syntax) {
  for (auto& argument : arguments_)
    if (auto known = argument.names_in(syntax); !known.empty()) argument.names = std::move(known);
}

void Options::flag(std::string_view names, bool& target, std::string_view help) {
  add(Argument::Kind::Flag, names, {}, help,
      [&target](const std::string& /*none*/) { target = true; });
}

template <class Number>
void Options::number(std::string_view names, std::optional<Number>& target, std::string_view value,
                     std::string_view help) {
  using Limits = std::numeric_limits<Number>;
  const std::string name(names.substr(0, names.find(',')));
  add(Argument::Kind::Number, names, value, help, [&target, name](const std::string& word) {
    if (!target)
      target = static_cast<Number>(
          parse_number(without_quotes(word), name, Limits::min(), Limits::max()));
  });
}
template void Options::number(std::string_view, std::optional<std::int32_t>&, std::string_view,
                              std::string_view);
template void Options::number(std::string_view, std::optional<std::int64_t>&, std::string_view,
                              std::string_view);

void Options::word(Argument::Kind kind, std::string_view name, std::string& target,
                   std::string_view help, std::string_view value) {
  add(kind, name, value, help, [&target](const std::string& word) { target = word; });
  require();
}

void Options::word(Argument::Kind kind, std::string_view names, std::optional<std::string>& target,
                   std::string_view help, std::string_view value) {
  add(kind, names, value, help, [&target](const std::string& word) {
    if (!target) target = word;
  });
}

void Options::duration(std::string_view names, std::optional<std::chrono::milliseconds>& target,
                       std::string_view help) {
  const std::string name(names.substr(0, names.find(',')));
  add(Argument::Kind::Text, names, "time", help, [&target, name](const std::string& word) {
    if (!target) target = parse_duration(word, name);
  });
}

void Options::rest(Argument::Kind kind, std::string_view name, std::vector<std::string>& target,
                   std::string_view help, bool required, std::string_view value) {
  add(kind, name, value, help, [&target](const std::string& word) {
    target.push_back(word);
  }).required = required;
}

void Options::choice_of(std::string_view names, Choices choices, std::optional<std::string>* other,
                        std::string_view value, std::string_view help) {
  const auto kind = other ? Argument::Kind::Text : Argument::Kind::Choice;
  auto known = choices.names;
  add(kind, names, value, help,
      [choices = std::move(choices), other, what = std::string(value),
       given = false](const std::string& word) mutable {
        const auto place = place_of(word, choices.names);
        const bool is_choice = place < choices.names.size();
        if (other && !is_choice) {
          if (!*other) *other = word;
        } else if (!std::exchange(given, true)) {
          if (!is_choice) refuse_choice(word, what, choices.names);
          choices.choose(place);
        }
      })
      .choices = std::move(known);
}

void Options::program(std::vector<std::string>& target, std::string_view help) {
  const bool marked = std::ranges::any_of(arguments_, [](const Argument& before) {
    return before.positional() && (!before.required || before.takes_rest());
  });
  program_ = &target;
  add(Argument::Kind::Program, "program", {}, help, {}).marked = marked;
}

void Options::instead_of(std::string_view options, std::string_view remedy) {
  foreign_.push_back({.names = split(options, ','), .remedy = remedy});
}

void Options::parse(const std::vector<std::string>& words, const std::vector<bool>& quoted,
                    bool as_zkcli) {
  auto given = given_words(arguments_, words, quoted);
  for (auto& option : given.options)
    if (as_zkcli && option.apart) option.value = without_quotes(*option.value);
  if (const auto unknown = unknown_option(arguments_, given, foreign_, as_zkcli)) {
    const auto& [word, before] = *unknown;
    const auto text = foreign_option_text(foreign_, word);
    throw UsageError(text.empty() ? unknown_option_text(arguments_, word, before) : text);
  }
  check_options(arguments_, given, as_zkcli);
  check_word_count(arguments_, given);
  check_exclusive(arguments_, given, as_zkcli);
  // An empty variable in a script must not look like a successful program.
  if (given.program && given.marked && given.program_words == 0)
    throw UsageError("no program after --");
  if (program_)
    program_->assign(words.end() - static_cast<std::ptrdiff_t>(given.program_words), words.end());
  surplus_ = bind_words(given);
}

}  // namespace zksh
