// Complete: completes words, using the commands' declarations.
#include "shell/complete.h"

#include "base/fd.h"
#include "base/mapped.h"
#include "base/text.h"
#include "base/words.h"
#include "client/node_path.h"
#include "command/command.h"
#include "command/given_words.h"
#include "shell/command_line.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace zksh {
namespace {

Candidates beginning_with(std::string_view prefix, std::vector<std::string> texts) {
  std::erase_if(texts, [&](const std::string& text) { return !text.starts_with(prefix); });
  return Candidates(std::move(texts));
}

Candidates node_paths(const std::string& word, const CompletionSources& sources) {
  if (word.empty() && sources.current == "/") return Candidates({"/"});
  const auto directory = word.substr(0, word.rfind('/') + 1);
  const auto prefix = word.substr(directory.size());
  if (prefix == "..") return Candidates({word + '/'});
  if (!sources.nodes || directory.find("//") != std::string::npos) return {};
  auto parent = directory.empty() ? sources.current : absolute_path(sources.current, directory);
  if (parent.size() > 1 && parent.ends_with('/')) parent.pop_back();
  auto candidates = sources.nodes(parent, prefix);
  candidates.prepend(directory);
  return candidates;
}

Candidates held_locks(const std::string& word, const CompletionSources& sources) {
  if (sources.held_locks)
    if (auto locks = beginning_with(word, sources.held_locks()); locks.count > 0) return locks;
  return word.empty() ? Candidates() : node_paths(word, sources);
}

/// Local files. Keeps the directory as typed, including `~/`.
std::vector<std::string> files(const std::string& word) {
  const auto typed = word.substr(0, word.rfind('/') + 1);
  const auto directory = typed.empty() ? std::string(".") : with_home(typed);
  const auto prefix = word.substr(typed.size());
  std::vector<std::string> names;
  std::error_code problem;
  std::filesystem::directory_iterator entry(directory, problem);
  for (; !problem && entry != std::filesystem::directory_iterator(); entry.increment(problem)) {
    const auto name = entry->path().filename().string();
    if (!name.starts_with(prefix) || (prefix.empty() && name.front() == '.')) continue;
    std::error_code unknown;
    names.push_back(typed + name + (entry->is_directory(unknown) ? "/" : ""));
  }
  return names;
}

Candidates file_candidates(const std::string& word) {
  Candidates candidates(files(word));
  candidates.directory = word.rfind('/') + 1;
  return candidates;
}

/// "@FILE": a value that is read from a file.
Candidates files_behind_at(const std::string& word) {
  auto candidates = file_candidates(word.substr(1));
  candidates.prepend("@");
  return candidates;
}

/// An ACL scheme, and its id if that is always the same.
struct AclScheme {
  std::string_view name;
  std::string_view id;
};
constexpr std::array<AclScheme, 7> acl_schemes{{{.name = "world", .id = "anyone:"},
                                                {.name = "auth", .id = ":"},
                                                {.name = "digest", .id = ""},
                                                {.name = "ip", .id = ""},
                                                {.name = "sasl", .id = ""},
                                                {.name = "super", .id = ""},
                                                {.name = "x509", .id = ""}}};

/// Completes an ACL entry part by part: SCHEME:ID:PERMISSIONS.
Candidates acl_entry(const std::string& word) {
  std::vector<std::string> texts;
  const auto colon = word.find(':');
  if (colon == std::string::npos || word.rfind(':') == colon) {
    for (const auto& scheme : acl_schemes) {
      texts.push_back(std::string(scheme.name) + ':');
      if (colon != std::string::npos) texts.back() += scheme.id;
    }
    auto candidates = beginning_with(word, std::move(texts));
    // Other ids cannot be guessed.
    return candidates.count == 1 && candidates.common == word ? Candidates() : candidates;
  }
  constexpr std::string_view permissions = "cdrwa";
  const auto given = std::string_view(word).substr(word.rfind(':') + 1);
  if (given.empty()) texts.push_back(word + std::string(permissions));
  for (const char letter : permissions)
    if (given.find(letter) == std::string_view::npos) texts.push_back(word + letter);
  Candidates candidates(std::move(texts));
  candidates.directory = word.rfind(':') + 1;
  return candidates;
}

/// Completes the last of several texts that are separated by commas.
Candidates last_in_list(const std::string& word,
                        const std::function<Candidates(const std::string& last)>& complete) {
  const auto done = word.rfind(',') + 1;
  auto candidates = complete(word.substr(done));
  candidates.prepend(word.substr(0, done));
  return candidates;
}

/// The identities in the ACL of the node; if they are not known, the schemes.
Candidates acl_identity(const std::string& word, const std::string& node,
                        const CompletionSources& sources) {
  auto present = sources.acls && !node.empty() ? sources.acls(absolute_path(sources.current, node))
                                               : Candidates();
  if (present.awaited) return present;
  auto texts = mapped(present.first, &Candidate::text);
  if (texts.empty())
    for (const auto& scheme : acl_schemes) texts.push_back(std::string(scheme.name) + ':');
  return beginning_with(word, std::move(texts));
}

/// The candidates for the value of `argument`; `word` is what has been typed of it. `node`: the
/// command's first positional, if it is typed already.
Candidates complete_value(const Argument& argument, const std::string& word,
                          const CompletionSources& sources, const std::string& node) {
  switch (argument.kind) {
    case Argument::Kind::NodePath:
    case Argument::Kind::NodePaths:
      return node_paths(word, sources);
    case Argument::Kind::HeldLocks:
      return held_locks(word, sources);
    case Argument::Kind::Job:
      return sources.jobs ? beginning_with(word, sources.jobs()) : Candidates();
    case Argument::Kind::AclList:
      return last_in_list(word, acl_entry);
    case Argument::Kind::AclIds:
      return last_in_list(
          word, [&](const std::string& last) { return acl_identity(last, node, sources); });
    case Argument::Kind::File:
      return file_candidates(word);
    case Argument::Kind::Text:
      if (argument.positional() && word.starts_with('@')) return files_behind_at(word);
      return beginning_with(word, argument.choices);
    default:
      return beginning_with(word, argument.choices);
  }
}

/// The candidates for a word of a program's command line: for the first, programs in $PATH unless
/// it names a directory; then files.
Candidates complete_program(const std::string& word, bool first) {
  const char* const path = std::getenv("PATH");
  if (!first || !path || word.find('/') != std::string::npos) return file_candidates(word);
  if (word.empty()) return {};  // there are thousands
  std::set<std::string> names;
  for (const auto part : split(path, ':')) {
    const auto directory = std::string(part.empty() ? "." : part) + '/';
    for (const auto& file : files(directory + word))
      if (!file.ends_with('/') && access(file.c_str(), X_OK) == 0)
        names.insert(file.substr(directory.size()));
  }
  return Candidates({names.begin(), names.end()});
}

/// What a help text says first, without what it adds, and without a full stop.
std::string first_statement(const std::string& help) {
  auto sentence = help.substr(0, std::min({help.find(". "), help.find("; "), help.find('\n')}));
  if (sentence.ends_with('.')) sentence.pop_back();
  return sentence;
}

Candidates option_names(std::string_view prefix, const std::vector<Argument>& arguments) {
  // --help is offered only after a dash.
  std::map<std::string, std::string> meanings;
  if (!prefix.empty()) meanings["--help"] = "Show the command's help";
  for (const auto& argument : arguments)
    if (!argument.positional() && !argument.legacy &&
        (!prefix.empty() || !is_output_option(argument)))
      for (const auto& name : argument.names) meanings[name] = first_statement(argument.help);
  auto candidates =
      beginning_with(prefix, mapped(meanings, [](const auto& named) { return named.first; }));
  for (auto& candidate : candidates.first) candidate.meaning = meanings[candidate.text];
  return candidates;
}

/// For a word such as "--output=pl"; nullopt for others.
std::optional<Candidates> attached_values(const std::vector<Argument>& arguments,
                                          const std::string& word, const CompletionSources& sources,
                                          const std::string& node) {
  const auto equals = word.find('=');
  if (!looks_like_option(word) || equals == std::string::npos) return std::nullopt;
  const auto found = option_word(arguments, word);
  if (found.named.empty()) return Candidates();
  auto candidates =
      complete_value(*found.named.back().option, word.substr(equals + 1), sources, node);
  candidates.prepend(word.substr(0, equals + 1));
  return candidates;
}

/// The index of a command that is an argument of another one (repeat 3 stat /a); the number of
/// words if there is none yet.
std::size_t inner_command(const std::vector<Argument>& arguments,
                          const std::vector<std::string>& words, const std::vector<bool>& quoted) {
  std::size_t at = 0;
  for (; at < words.size(); ++at) {
    const auto before = given_words(arguments, std::span(words).first(at), quoted);
    const bool number = words[at].find_first_not_of("0123456789") == std::string::npos;
    const bool last = at + 1 == words.size();
    const bool data = at < quoted.size() && quoted[at];
    const bool option = !data && looks_like_option(words[at]) && !before.options_ended;
    if (!before.awaiting && !option && (!number || (last && words[at].empty()))) break;
  }
  return at;
}

/// The candidates if the word can only be an option, or an option's value.
std::optional<Candidates> complete_option(const std::vector<Argument>& arguments,
                                          const GivenWords& given, const std::string& word,
                                          const CompletionSources& sources) {
  const auto node = given.positionals.empty() ? "" : given.positionals.front();
  if (given.awaiting) return complete_value(*given.awaiting, word, sources, node);
  if (given.options_ended) return std::nullopt;
  if (auto candidates = attached_values(arguments, word, sources, node)) return candidates;
  return looks_like_option(word) ? std::optional(option_names(word, arguments)) : std::nullopt;
}

/// `line` is a command with at least one argument, the last of which is completed.
Candidates complete_arguments(const Invocation& line, const CompletionSources& sources) {
  const auto arguments = line.command->arguments();
  const auto& words = line.arguments;
  const auto& word = words.back();
  if (std::ranges::find(arguments, Argument::Kind::Line, &Argument::kind) != arguments.end())
    if (const auto at = inner_command(arguments, words, line.quoted); at < words.size())
      return complete_command(line.of_last(words.size() - at), sources);
  const auto given = given_words(arguments, std::span(words).first(words.size() - 1), line.quoted);
  const bool is_data = given.options_ended || (!line.quoted.empty() && line.quoted.back());
  if (given.awaiting || !is_data)
    if (auto candidates = complete_option(arguments, given, word, sources)) return *candidates;
  if (given.options_ended && given.program) return complete_program(word, given.program_words == 0);
  const auto* positional = positional_at(arguments, given.positionals.size());
  if (positional && !positional->choices_after.empty()) {
    auto dependent = *positional;
    const auto found =
        positional->choices_after.find(words.size() > 1 ? words[words.size() - 2] : line.name);
    if (found != positional->choices_after.end()) dependent.choices = found->second;
    return complete_value(dependent, word, sources, {});
  }
  // The present value, to be changed on the line.
  if (positional && line.name == "set" && positional->names.front() == "data" && word.empty() &&
      sources.values)
    return sources.values(absolute_path(sources.current, given.positionals.front()));
  if (positional) return complete_value(*positional, word, sources, {});
  if (given.may_begin_program() && !word.empty()) return complete_program(word, true);
  // Only options are possible here.
  return word.empty() && !is_data ? option_names(word, arguments) : Candidates{};
}

/// What follows the cursor.
enum class AfterCursor { Nothing, ClosingQuote, Text };

AfterCursor after_cursor(std::string_view line, std::size_t cursor, char quote) {
  if (cursor >= line.size()) return AfterCursor::Nothing;
  const char next = line[cursor];
  if (quote == '\0') return is_white_space(next) ? AfterCursor::Nothing : AfterCursor::Text;
  const bool closes = next == (quote == '$' ? '\'' : quote);
  const bool last = cursor + 1 == line.size() || is_white_space(line[cursor + 1]);
  return closes && last ? AfterCursor::ClosingQuote : AfterCursor::Text;
}

/// How `text`, the whole word or its beginning, is written on the line; nullopt if it would not be
/// read back correctly with what follows the cursor.
std::optional<std::string> written(const std::string& text, bool whole, const TypedWords& typed,
                                   AfterCursor what_follows, bool blank_follows) {
  const auto word = write_word(text, typed.quote);
  const char quote = word.closing.empty() ? '\0' : word.text.front();
  if (quote != typed.quote && what_follows != AfterCursor::Nothing) return std::nullopt;
  if (!whole || what_follows != AfterCursor::Nothing) return word.text;
  return word.text + word.closing + (blank_follows ? "" : " ");
}

/// The candidates for the last word after a line's last operator.
Candidates candidates_behind(const Operator& sign, const TypedWords& typed) {
  if (sign.kind == Operator::Kind::Program)
    return complete_program(typed.last.text, typed.words.empty());
  return sign.names_file() && typed.words.empty() ? file_candidates(typed.last.text) : Candidates();
}

Candidates candidates_for(const TypedWords& typed, const CompletionSources& sources) {
  auto words = texts_of(typed.words);
  words.push_back(typed.last.text);
  auto quoted = mapped(typed.words, &Word::quoted);
  quoted.push_back(typed.quote != '\0');
  return complete_command({Input::Terminal, words, quoted}, sources);
}

std::vector<std::string> shown(const Candidates& candidates) {
  return mapped(candidates.first, [&](const Candidate& candidate) {
    auto text = candidate.text.substr(candidates.directory);
    if (candidate.mark != '\0') text += candidate.mark;
    return text;
  });
}

/// A line for each option: the names that it has among the candidates, and its meaning.
std::vector<Completion::Described> described(const Candidates& candidates) {
  std::vector<Completion::Described> options;
  for (const auto& [text, mark, open, meaning] : candidates.first) {
    if (meaning.empty()) return {};
    const auto same = std::ranges::find(options, meaning, &Completion::Described::meaning);
    if (same == options.end())
      options.push_back({.names = text, .meaning = meaning});
    else
      same->names += ", " + text;
  }
  return options;
}

/// What is typed for each, without a blank after it; empty if one of them cannot be typed here.
std::vector<std::string> typed_texts(const Candidates& candidates, const TypedWords& typed,
                                     AfterCursor what_follows) {
  std::vector<std::string> texts;
  texts.reserve(candidates.first.size());
  for (const auto& candidate : candidates.first) {
    auto text = written(candidate.text, !candidate.open, typed, what_follows, true);
    if (!text) return {};
    texts.push_back(std::move(*text));
  }
  return texts;
}

}  // namespace

std::string_view common_beginning(std::string_view one, std::string_view other) {
  const auto size = static_cast<std::size_t>(std::ranges::mismatch(one, other).in1 - one.begin());
  const auto begin_of_last = [&](std::string_view text) {
    return size < text.size() ? character_begin(text, size) : size;
  };
  return one.substr(0, std::min(begin_of_last(one), begin_of_last(other)));
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

Candidates complete_command(const Invocation& line, const CompletionSources& sources) {
  if (line.arguments.empty()) return beginning_with(line.name, command_names());
  return line.command ? complete_arguments(line, sources) : Candidates{};
}

Candidates complete_invocation(
    const std::vector<std::string>& words, const std::vector<Argument>& options,
    const std::function<NodeSource(std::vector<std::string> given)>& nodes_for) {
  if (words.empty()) return {};
  auto arguments = options;  // after which the command comes, like a program
  arguments.push_back({.kind = Argument::Kind::Program, .names = {"command"}});
  const auto given = given_words(arguments, std::span(words).first(words.size() - 1));
  const auto& word = words.back();
  if (auto candidates = complete_option(options, given, word, {})) return *candidates;
  const auto command = words.end() - 1 - static_cast<std::ptrdiff_t>(given.program_words);
  return complete_command({Input::Terminal, {command, words.end()}},
                          {.nodes = nodes_for({words.begin(), command})});
}

Completion complete_line(std::string_view line, std::size_t cursor,
                         const CompletionSources& sources) {
  Completion completion{.begin = cursor, .text = {}};
  const auto operators = operators_in(line.substr(0, cursor));
  const auto begin = operators.empty() ? 0 : operators.back().end;
  const auto typed = split_typed(line.substr(begin, cursor - begin));
  if (!typed) return completion;
  auto candidates = operators.empty() ? candidates_for(*typed, sources)
                                      : candidates_behind(operators.back(), *typed);
  completion.begin = begin + typed->last.begin;
  completion.text = line.substr(completion.begin, cursor - completion.begin);
  completion.awaited = candidates.awaited;
  completion.count = candidates.count;
  if (candidates.count == 0) return completion;

  const bool only_one = candidates.count == 1 && candidates.first.size() == 1;
  const bool whole = only_one && !candidates.first.front().open;
  const auto& text = only_one ? candidates.first.front().text : candidates.common;
  const auto what_follows = after_cursor(line, cursor, typed->quote);
  // What was typed may be quoted differently from what zksh would write; leave that alone.
  if (whole || text.size() > typed->last.text.size()) {
    const bool blank_follows = cursor < line.size() && is_white_space(line[cursor]);
    if (auto better = written(text, whole, *typed, what_follows, blank_follows))
      completion.text = std::move(*better);
  }
  if (candidates.count > 1) {
    completion.list = shown(candidates);
    completion.described = described(candidates);
    completion.texts = typed_texts(candidates, *typed, what_follows);
  }
  return completion;
}

}  // namespace zksh
