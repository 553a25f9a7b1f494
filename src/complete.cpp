// Complete: what could stand in a word's place, derived from the declarations of the commands.
#include "complete.h"

#include "command.h"
#include "words.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <unistd.h>

namespace zksh {
namespace {

using Candidates = std::vector<std::string>;
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

Candidates beginning_with(std::string_view prefix, Candidates candidates) {
  std::erase_if(candidates,
                [&](const std::string& candidate) { return !candidate.starts_with(prefix); });
  return candidates;
}

Candidates command_names(std::string_view prefix) {
  Candidates names;
  for (const Command* command : all_commands()) {
    names.emplace_back(command->name);
    names.insert(names.end(), command->aliases.begin(), command->aliases.end());
  }
  return beginning_with(prefix, std::move(names));
}

Candidates option_names(std::string_view prefix, const Arguments& arguments) {
  Candidates names;
  for (const auto& argument : arguments)
    if (!argument.positional() && !argument.legacy)
      names.insert(names.end(), argument.names.begin(), argument.names.end());
  if (std::ranges::find(names, "--help") == names.end()) names.emplace_back("--help");
  return beginning_with(prefix, std::move(names));
}

Candidates node_paths(const std::string& word, const PathSource& paths) {
  if (word.empty()) return {"/"};
  if (!paths || word.front() != '/') return {};
  const auto slash = word.rfind('/');
  const auto parent = slash == 0 ? std::string("/") : word.substr(0, slash);
  Candidates candidates;
  for (const auto& name : paths(parent, word.substr(slash + 1)))
    candidates.push_back(join_path(parent, name));
  return candidates;
}

/// Files of this machine. The spelling of the directory, `~/` included, stays as it was typed.
Candidates files(const std::string& word) {
  const auto slash = word.rfind('/');
  const auto typed = slash == std::string::npos ? std::string() : word.substr(0, slash + 1);
  auto directory = typed.empty() ? std::string(".") : typed;
  if (const char* home = std::getenv("HOME"); home && directory.starts_with("~/"))
    directory.replace(0, 1, home);
  const auto prefix = word.substr(typed.size());
  Candidates candidates;
  std::error_code problem;
  std::filesystem::directory_iterator entry(directory, problem);
  for (; !problem && entry != std::filesystem::directory_iterator(); entry.increment(problem)) {
    const auto name = entry->path().filename().string();
    if (!name.starts_with(prefix) || (prefix.empty() && name.front() == '.')) continue;
    std::error_code unknown;
    candidates.push_back(typed + name + (entry->is_directory(unknown) ? "/" : ""));
  }
  return candidates;
}

/// What a program's words may be: the first by $PATH, unless it names a directory; then files.
Candidates program_words(const std::string& word, bool first) {
  const char* const path = std::getenv("PATH");
  if (!first || !path || word.find('/') != std::string::npos) return files(word);
  if (word.empty()) return {};  // thousands
  std::set<std::string> names;
  for (std::string_view left = path; !left.empty();) {
    const auto end = left.find(':');
    const auto directory = std::string(left.substr(0, end)) + '/';
    left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
    for (const auto& file : files(directory + word))
      if (!file.ends_with('/') && access(file.c_str(), X_OK) == 0)
        names.insert(file.substr(directory.size()));
  }
  return {names.begin(), names.end()};
}

Candidates values(const Argument& argument, const std::string& word, const PathSource& paths) {
  switch (argument.kind) {
    case Argument::Kind::NodePath:
    case Argument::Kind::NodePaths:
      return node_paths(word, paths);
    case Argument::Kind::File:
      return files(word);
    default:
      return beginning_with(word, argument.choices);
  }
}

/// For a word such as "--output=pl"; no value when it is something else.
std::optional<Candidates> attached_values(const Arguments& arguments, const std::string& word,
                                          const PathSource& paths) {
  const auto equals = word.find('=');
  if (!looks_like_option(word) || equals == std::string::npos) return std::nullopt;
  const auto* option = find_option(arguments, word.substr(0, equals));
  if (!option) return Candidates{};
  auto candidates = values(*option, word.substr(equals + 1), paths);
  for (auto& candidate : candidates) candidate.insert(0, word, 0, equals + 1);
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
                              const PathSource& paths) {
  const Argument* awaiting = nullptr;
  std::size_t positionals = 0;
  bool options_ended = false;
  const bool runs_program =
      std::ranges::find(arguments, Argument::Kind::Program, &Argument::kind) != arguments.end();
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    if (options_ended && runs_program) return program_words(words.back(), false);
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
  if (awaiting) return values(*awaiting, word, paths);
  if (options_ended && runs_program) return program_words(word, true);
  if (!options_ended) {
    if (auto candidates = attached_values(arguments, word, paths)) return *candidates;
    if (looks_like_option(word)) return option_names(word, arguments);
  }
  const auto* positional = positional_at(arguments, positionals);
  if (positional) return values(*positional, word, paths);
  // All that may stand here still are options.
  return word.empty() && !options_ended ? option_names(word, arguments) : Candidates{};
}

}  // namespace

bool goes_on(std::string_view candidate) {
  return candidate.ends_with('/') || candidate.ends_with('=');
}

std::vector<std::string> complete_command(const std::vector<std::string>& words,
                                          const PathSource& paths) {
  if (words.empty()) return {};
  if (words.size() == 1) return command_names(words.front());
  const Command* command = find_command(words.front());
  Candidates candidates;
  if (command)
    command->describe([&](const Options& options) {
      candidates = complete_arguments(options.arguments(), words, paths);
    });
  return candidates;
}

std::vector<std::string> complete_line(std::string_view line, std::size_t word_begin,
                                       std::size_t cursor, const PathSource& paths) {
  std::vector<std::string> words;
  try {
    for (auto& word : split_words(line.substr(0, word_begin)))
      words.push_back(std::move(word.text));
  } catch (const UsageError&) {
    return {};  // an unclosed quote: the word is not the one that the editor takes it for
  }
  if (line.substr(0, word_begin).find_first_not_of(" \t") != std::string_view::npos &&
      words.empty())
    return {};  // a comment
  words.emplace_back(line.substr(word_begin, cursor - word_begin));
  if (words.back().starts_with('"') || words.back().starts_with('\'')) return {};
  return complete_command(words, paths);
}

std::vector<std::string> complete_invocation(
    const std::vector<std::string>& words, const std::vector<Argument>& options,
    const std::function<PathSource(const std::string& server)>& paths_of) {
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
    if (awaiting) return values(*awaiting, word, {});
    if (auto candidates = attached_values(options, word, {}); candidates && !options_ended)
      return *candidates;
    if (looks_like_option(word) && !options_ended) return option_names(word, options);
  }
  return complete_command({words.begin() + static_cast<std::ptrdiff_t>(next), words.end()},
                          paths_of(server));
}

}  // namespace zksh
