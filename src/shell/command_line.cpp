// CommandLine: splits a line into the command's words and the redirection of its results.
#include "shell/command_line.h"

#include "base/error.h"
#include "base/fd.h"
#include "shell/operators.h"
#include "shell/script_arguments.h"

#include <fmt/core.h>

#include <algorithm>

namespace zksh {
namespace {

using Kind = RedirectTo::Kind;
constexpr auto npos = std::string_view::npos;

std::vector<Word> filled_words(std::string_view line, const std::vector<std::string>* arguments) {
  auto words = split_words(line);
  return arguments ? with_arguments(std::move(words), line, *arguments) : words;
}

std::string file_behind(std::string_view sign, std::string_view rest,
                        const std::vector<std::string>* arguments) {
  const auto words = filled_words(rest, arguments);
  if (words.empty() || (words.size() == 1 && words.front().text.empty()))
    throw ValueError(fmt::format("no file name after {0} (to use {0} as a value, quote it)", sign));
  if (words.size() > 1)
    throw ValueError(
        fmt::format("unexpected \"{0}\" after the file name (to use {1} as a value, quote it)",
                    words[1].text, sign));
  const auto& word = words.front();
  return word.quoted ? word.text : with_home(word.text);
}

/// The position of the first unquoted `|`; npos if there is none.
std::size_t program_sign(std::string_view line) {
  const auto operators = operators_in(line);
  const bool runs_program = !operators.empty() && operators.back().kind == Operator::Kind::Program;
  return runs_program ? operators.back().begin : npos;
}

/// Adds what one operator says. `sign` is its text, `rest` what stands between it and the next one,
/// or the end of the line.
void add_redirection(CommandLine& parsed, Operator::Kind kind, std::string_view sign,
                     std::string_view rest, const std::vector<std::string>* arguments) {
  const bool of_errors = kind == Operator::Kind::ErrorFile ||
                         kind == Operator::Kind::AppendErrors ||
                         kind == Operator::Kind::ErrorsToResults;
  auto& to = of_errors ? parsed.errors : parsed.to;
  if (to)
    throw ValueError(
        fmt::format("{} can go to one place only: unexpected {} (to use {} as a value, "
                    "quote it)",
                    of_errors ? "errors" : "results", sign, sign));
  if (kind == Operator::Kind::Program) {
    rest.remove_prefix(std::min(rest.find_first_not_of(white_space), rest.size()));
    if (rest.empty()) throw ValueError("no program after | (to use | as a value, quote it)");
    to = {.kind = Kind::Program, .target = std::string(rest)};
  } else if (kind == Operator::Kind::ErrorsToResults) {
    if (const auto surplus = trimmed(rest); !surplus.empty())
      throw ValueError(fmt::format("unexpected \"{0}\" after {1} (to use {1} as a value, quote it)",
                                   surplus, sign));
    to.kind = Kind::Results;
  } else {
    // As in sh, the errors would go where the results went before.
    if (!of_errors && parsed.errors.kind == Kind::Results)
      throw ValueError(fmt::format("write 2>&1 after {} FILE", sign));
    const bool appends = kind == Operator::Kind::Append || kind == Operator::Kind::AppendErrors;
    to = {.kind = appends ? Kind::Append : Kind::File,
          .target = file_behind(sign, rest, arguments)};
  }
}

}  // namespace

std::vector<std::string> typed_commands(std::string_view line) {
  const auto sign = program_sign(line);
  const auto before = line.substr(0, sign);
  auto commands = split_commands(before);
  if (sign == npos) return commands;
  const auto last = before.find_last_not_of(" \t");
  if (commands.empty() || before[last] == ';') commands.emplace_back();
  commands.back() += line.substr(sign);
  return commands;
}

std::optional<std::string> background_line(std::string_view line) {
  // A quick check that excludes most lines.
  const auto last = line.find_last_not_of(white_space);
  if (last == npos || line[last] != '&') return std::nullopt;
  try {
    auto words = split_words(line);
    auto end = npos;
    // `!3 &` has two, if line 3 ended with one.
    for (; words.size() > 1 && words.back().text == "&" && !words.back().quoted; words.pop_back())
      end = line.find_last_not_of(white_space, words.back().begin - 1) + 1;
    return end == npos ? std::nullopt : std::optional(std::string(line.substr(0, end)));
  } catch (const UsageError&) {
    return std::nullopt;  // the interpreter will report the error
  }
}

CommandLine parse_command_line(std::string_view line, bool redirects,
                               const std::vector<std::string>* arguments) {
  const auto operators = redirects ? operators_in(line) : std::vector<Operator>();
  for (const auto& one : operators)
    if (one.kind == Operator::Kind::Foreign) refuse_operator(one.text_in(line));
  const auto end_of_command = operators.empty() ? npos : operators.front().begin;
  CommandLine parsed{.words = filled_words(line.substr(0, end_of_command), arguments)};
  if (!operators.empty() && parsed.words.empty())
    throw ValueError(
        fmt::format("a command is missing before {}", operators.front().text_in(line)));
  for (auto one = operators.begin(); one != operators.end(); ++one) {
    const bool last = one + 1 == operators.end();
    const auto rest = line.substr(one->end, last ? npos : (one + 1)->begin - one->end);
    add_redirection(parsed, one->kind, one->text_in(line), rest, arguments);
  }
  return parsed;
}

}  // namespace zksh
