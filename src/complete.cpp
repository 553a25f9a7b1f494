// Complete: what could stand in a word's place, derived from the declarations of the commands.
#include "complete.h"

#include "command.h"
#include "complete_values.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

namespace zksh {
namespace {

using Arguments = std::vector<Argument>;

bool looks_like_option(std::string_view word) {
  return word.starts_with('-') &&
         (word.size() == 1 || std::isdigit(static_cast<unsigned char>(word[1])) == 0);
}

bool takes_value(const Argument& argument) { return argument.kind != Argument::Kind::Flag; }

/// An option with one dash too few (zkCli's -server) or too many (--add) is meant all the same.
const Argument* find_option(const Arguments& arguments, std::string_view word) {
  for (const auto& argument : arguments)
    for (const auto& name : argument.names)
      if (!argument.positional() &&
          (name == word ||
           (word.size() > 2 && ('-' + std::string(word) == name || '-' + name == word))))
        return &argument;
  return nullptr;
}

/// An option as it stands in a word, perhaps with its value.
struct GivenOption {
  const Argument* option = nullptr;  ///< null: the word is none, or an unknown one
  std::optional<std::string> value{};

  bool awaits_value() const { return option && takes_value(*option) && !value; }
};

GivenOption option_in(const Arguments& arguments, const std::string& word) {
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

Candidates command_names(std::string_view prefix) {
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    if (name.starts_with(prefix)) names.emplace_back(name);
  };
  for (const Command* command : all_commands()) {
    add(command->name);
    std::ranges::for_each(command->aliases, add);
  }
  return Candidates(std::move(names));
}

Candidates option_names(std::string_view prefix, const Arguments& arguments) {
  std::vector<std::string> names{"--help"};
  for (const auto& argument : arguments)
    if (!argument.positional() && !argument.legacy)
      names.insert(names.end(), argument.names.begin(), argument.names.end());
  std::erase_if(names, [&](const std::string& name) { return !name.starts_with(prefix); });
  return Candidates(std::move(names));
}

/// For a word such as "--output=pl"; no value when it is something else.
std::optional<Candidates> attached_values(const Arguments& arguments, const std::string& word,
                                          const CompletionSources& sources) {
  const auto equals = word.find('=');
  if (!looks_like_option(word) || equals == std::string::npos) return std::nullopt;
  const auto* option = find_option(arguments, word.substr(0, equals));
  if (!option) return Candidates();
  auto candidates = complete_value(*option, word.substr(equals + 1), sources);
  candidates.prepend(word.substr(0, equals + 1));
  return candidates;
}

/// The positional argument that takes the word with this index, if any.
const Argument* positional_at(const Arguments& arguments, std::size_t index) {
  for (const auto& argument : arguments) {
    if (!argument.positional() || argument.kind == Argument::Kind::Program) continue;
    if (index == 0 || argument.takes_rest()) return &argument;
    --index;
  }
  return nullptr;
}

Candidates complete_arguments(const Arguments& arguments, const std::vector<std::string>& words,
                              const CompletionSources& sources) {
  const Argument* awaiting = nullptr;
  std::size_t positionals = 0;
  bool options_ended = false;
  const bool runs_program =
      std::ranges::find(arguments, Argument::Kind::Program, &Argument::kind) != arguments.end();
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    if (options_ended && runs_program) return complete_program(words.back(), false);
    const auto given = options_ended || awaiting ? GivenOption{} : option_in(arguments, words[i]);
    if (awaiting)
      awaiting = nullptr;
    else if (words[i] == "--" && !options_ended)
      options_ended = true;
    else if (given.awaits_value())
      awaiting = given.option;
    else if (options_ended || !looks_like_option(words[i]) || words[i].size() == 1)
      ++positionals;
  }
  const auto& word = words.back();
  if (awaiting) return complete_value(*awaiting, word, sources);
  if (options_ended && runs_program) return complete_program(word, true);
  if (!options_ended) {
    if (auto candidates = attached_values(arguments, word, sources)) return *candidates;
    if (looks_like_option(word)) return option_names(word, arguments);
  }
  const auto* positional = positional_at(arguments, positionals);
  if (positional) return complete_value(*positional, word, sources);
  // All that may stand here still are options.
  return word.empty() && !options_ended ? option_names(word, arguments) : Candidates{};
}

}  // namespace

std::string_view common_beginning(std::string_view one, std::string_view other) {
  const auto differs = std::ranges::mismatch(one, other).in1;
  auto size = static_cast<std::size_t>(differs - one.begin());
  const auto goes_on = [](std::string_view text, std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
  };
  while (size > 0 && (goes_on(one, size) || goes_on(other, size))) --size;
  return one.substr(0, size);
}

Candidates::Candidates(std::vector<std::string> texts) {
  std::ranges::sort(texts);
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  count = texts.size();
  if (count > 0) common = common_beginning(texts.front(), texts.back());
  first.reserve(count);
  for (auto& text : texts) {
    const bool open = text.ends_with('/') || text.ends_with('=') || text.ends_with(':');
    first.push_back({.text = std::move(text), .mark = '\0', .open = open});
  }
}

void Candidates::prepend(std::string_view text) {
  for (auto& candidate : first) candidate.text.insert(0, text);
  common.insert(0, text);
  directory += text.size();
}

Candidates complete_command(const std::vector<std::string>& words,
                            const CompletionSources& sources) {
  if (words.empty()) return {};
  if (words.size() == 1) return command_names(words.front());
  const Command* command = find_command(words.front());
  Candidates candidates;
  if (command)
    command->describe([&](const Options& options) {
      candidates = complete_arguments(options.arguments(), words, sources);
    });
  return candidates;
}

Candidates complete_invocation(
    const std::vector<std::string>& words, const std::vector<Argument>& options,
    const std::function<NodeSource(const std::string& server)>& nodes_of) {
  if (words.empty()) return {};
  const auto* server_option = find_option(options, "--server");
  std::string server;
  const Argument* awaiting = nullptr;
  std::size_t next = 0;
  bool options_ended = false;
  for (; next + 1 < words.size() && !options_ended; ++next) {
    const auto& word = words[next];
    auto given =
        awaiting ? GivenOption{.option = awaiting, .value = word} : option_in(options, word);
    if (!awaiting && word != "--" && !given.option && !looks_like_option(word)) break;
    options_ended = !awaiting && word == "--";
    awaiting = given.awaits_value() ? given.option : nullptr;
    if (given.option == server_option && given.value) server = *given.value;
  }
  const auto& word = words.back();
  if (next + 1 == words.size()) {
    if (awaiting) return complete_value(*awaiting, word, {});
    if (auto candidates = attached_values(options, word, {}); candidates && !options_ended)
      return *candidates;
    if (looks_like_option(word) && !options_ended) return option_names(word, options);
  }
  return complete_command({words.begin() + static_cast<std::ptrdiff_t>(next), words.end()},
                          {.nodes = nodes_of(server)});
}

}  // namespace zksh
