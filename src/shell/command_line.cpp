// CommandLine: splits a line into the command's words, with a script's arguments filled in, and the
// operators.
#include "shell/command_line.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/number.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

namespace zksh {
namespace {

using OperatorKind = Operator::Kind;
using Kind = RedirectTo::Kind;
constexpr auto npos = std::string_view::npos;
constexpr std::string_view digits = "0123456789";

constexpr auto known_operators = std::to_array<std::pair<std::string_view, OperatorKind>>({
    {"|", OperatorKind::Program},
    {">", OperatorKind::File},
    {"1>", OperatorKind::File},
    {">>", OperatorKind::Append},
    {"1>>", OperatorKind::Append},
    {"2>", OperatorKind::ErrorFile},
    {"2>>", OperatorKind::AppendErrors},
    {"2>&1", OperatorKind::ErrorsToResults},
});

/// The end of a quote that opens inside a bare word, so that `{"a":">"}` is one value;
/// npos if it is not closed: an apostrophe.
std::size_t closing_inside(std::string_view word, std::size_t at) {
  return word[at] == '"' || word[at] == '\'' ? word.find(word[at], at + 1) : npos;
}

/// The length of the operator at the beginning of a text, without a number before it; 0: none.
std::size_t length_at(std::string_view text) {
  constexpr std::array<std::string_view, 11> signs{"&>>", "&>", "&&", "||", "|&", "|",
                                                   ">>",  ">|", ">&", ">",  "<"};
  const auto* const sign =
      std::ranges::find_if(signs, [&](std::string_view known) { return text.starts_with(known); });
  if (sign == signs.end()) return 0;
  if (*sign == "<") return std::min(text.find_first_not_of('<'), text.size());
  if (*sign == ">&") return std::min(text.find_first_not_of("0123456789-", 2), text.size());
  return sign->size();
}

std::optional<Operator> operator_in(std::string_view line, const WordPlace& place) {
  const auto word = line.substr(0, place.end);
  // At the end of a line, & has been taken off; a comment's line begins with #.
  if (const auto text = word.substr(place.begin); text == "&" || text == "#")
    return Operator{.begin = place.begin, .end = place.end};
  for (auto at = place.begin; at < word.size(); ++at) {
    if (const auto closing = closing_inside(word, at); closing != npos) {
      at = closing;
      continue;
    }
    const auto length = length_at(word.substr(at));
    if (length == 0) continue;
    const auto before = word.substr(place.begin, at - place.begin);
    const bool numbered = (word[at] == '>' || word[at] == '<') && !before.empty() &&
                          before.find_first_not_of(digits) == npos;
    Operator found{.begin = numbered ? place.begin : at, .end = at + length};
    const auto text = found.text_in(line);
    const auto* const known =
        std::ranges::find(known_operators, text, &std::pair<std::string_view, OperatorKind>::first);
    if (known != known_operators.end()) found.kind = known->second;
    return found;
  }
  return std::nullopt;
}

std::string_view instead_of(std::string_view text) {
  const auto sign = text.substr(std::min(text.find_first_not_of(digits), text.size()));
  if (sign == "&")
    return "only a line typed at the prompt runs in the background, with & at its end";
  if (sign == "#") return "write a comment on a line of its own";
  if (sign == "&&") return "use ;, which stops after a failure";
  if (sign == "||") return "use your shell's (zksh … || zksh …)";
  if (sign == "|&") return "use 2>&1 |";
  if (sign == "&>" || sign == ">&") return "use > FILE 2>&1";
  if (sign == "&>>") return "use >> FILE 2>&1";
  if (sign == ">|") return "use >, which replaces a file";
  if (sign == "<<<") return "write the text as the value";
  if (sign.starts_with("<<")) return "write the lines as one value in $'…' with \\n, or use @FILE";
  if (sign.starts_with('<')) return "use @FILE as the value to read it from a file";
  if (sign.starts_with(">&")) return "only 2>&1 joins two streams";
  return "only results (> or 1>) and errors (2>) can go to a file";
}

/// Throws ValueError that names what to write instead of a foreign operator.
[[noreturn]] void refuse_operator(std::string_view text) {
  const auto* const where = text == "&" || text == "#" ? " here" : "";
  throw ValueError(fmt::format("zksh has no {0}{1}; {2} (to use {0} as a value, quote it)", text,
                               where, instead_of(text)));
}

/// A reference to arguments in a text.
struct Reference {
  std::size_t length = 0;   ///< total length in bytes; 0: there is none
  std::string_view name{};  ///< what follows the $, without braces: digits, # or @
};

/// Parses the reference at a `$`.
Reference reference_at(std::string_view text, std::size_t at) {
  const auto rest = text.substr(at + 1);
  const bool braces = rest.starts_with('{');
  const auto name = rest.substr(braces ? 1 : 0);
  const bool sign = name.starts_with('#') || name.starts_with('@');
  const auto length = sign ? 1 : std::min(name.find_first_not_of(digits), name.size());
  if (length == 0) return {};
  if (!braces) return {.length = 1 + length, .name = name.substr(0, length)};
  if (!name.substr(length).starts_with('}')) return {};
  return {.length = 3 + length, .name = name.substr(0, length)};
}

const std::string& argument(std::string_view number, const std::vector<std::string>& arguments) {
  const auto index = number_in<std::size_t>(number).value_or(0);
  if (index == 0 || index > arguments.size())
    throw ValueError(
        fmt::format("${} is not set: the script was given {} argument{} (to use it as a value, put "
                    "it in single quotes)",
                    number, arguments.empty() ? "no" : std::to_string(arguments.size()),
                    arguments.size() == 1 ? "" : "s"));
  return arguments[index - 1];
}

/// Whether an argument would be a pattern or an option if it were typed without quotes.
bool needs_quotes(std::string_view text) {
  return text.starts_with('-') || text.find_first_of("*?[") != npos;
}

/// Substitutes the arguments in a word.
void fill(Word& word, const std::vector<std::string>& arguments) {
  std::string text;
  for (std::size_t at = 0; at < word.text.size();) {
    const auto dollar = std::min(word.text.find('$', at), word.text.size());
    text.append(word.text, at, dollar - at);
    at = dollar;
    if (at == word.text.size()) break;
    const auto [length, name] = reference_at(word.text, at);
    if (name == "@") throw ValueError("$@ must be a separate word; it expands to all arguments");
    if (name == "#") {
      text += std::to_string(arguments.size());
    } else if (length > 0) {
      const auto& value = argument(name, arguments);
      // --name=$1 remains an option.
      word.quoted = word.quoted || (!text.starts_with('-') && needs_quotes(value));
      text += value;
    } else {
      text += '$';
    }
    at += std::max<std::size_t>(length, 1);
  }
  word.text = std::move(text);
}

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

/// Whether the last command is a comment, which contains its `|` and `&`.
bool ends_in_comment(std::string_view line) {
  return trimmed(line.substr(parts_of(line, PartBy::Command).back().begin)).starts_with('#');
}

/// The position of the first unquoted `|`; npos if there is none.
std::size_t program_sign(std::string_view line) {
  const auto operators = operators_in(line);
  const bool runs_program = !operators.empty() && operators.back().kind == OperatorKind::Program;
  return runs_program ? operators.back().begin : npos;
}

/// Adds what one operator says. `sign` is its text, `rest` what stands between it and the next one,
/// or the end of the line.
void add_redirection(CommandLine& parsed, OperatorKind kind, std::string_view sign,
                     std::string_view rest, const std::vector<std::string>* arguments) {
  const bool of_errors = kind == OperatorKind::ErrorFile || kind == OperatorKind::AppendErrors ||
                         kind == OperatorKind::ErrorsToResults;
  auto& to = of_errors ? parsed.errors : parsed.to;
  if (to)
    throw ValueError(
        fmt::format("{} can go to one place only: unexpected {} (to use {} as a value, quote it)",
                    of_errors ? "errors" : "results", sign, sign));
  if (kind == OperatorKind::Program) {
    rest.remove_prefix(std::min(rest.find_first_not_of(white_space), rest.size()));
    if (rest.empty()) throw ValueError("no program after | (to use | as a value, quote it)");
    to = {.kind = Kind::Program, .target = std::string(rest)};
  } else if (kind == OperatorKind::ErrorsToResults) {
    if (const auto surplus = trimmed(rest); !surplus.empty())
      throw ValueError(fmt::format("unexpected \"{0}\" after {1} (to use {1} as a value, quote it)",
                                   surplus, sign));
    to.kind = Kind::Results;
  } else {
    // As in sh, the errors would go where the results went before.
    if (!of_errors && parsed.errors.kind == Kind::Results)
      throw ValueError(fmt::format("write 2>&1 after {} FILE", sign));
    const bool appends = kind == OperatorKind::Append || kind == OperatorKind::AppendErrors;
    to = {.kind = appends ? Kind::Append : Kind::File,
          .target = file_behind(sign, rest, arguments)};
  }
}

}  // namespace

std::vector<Operator> operators_in(std::string_view line) {
  std::vector<Operator> found;
  if (is_blank_or_comment(line)) return found;
  std::size_t at = 0;
  while (const auto place = word_place_from(line, at)) {
    at = place->end;
    if (place->quoted()) continue;
    if (const auto next = operator_in(line, *place)) {
      found.push_back(*next);
      if (next->kind == OperatorKind::Program) break;
      at = next->end;
    }
  }
  return found;
}

bool names_arguments(std::string_view text) {
  for (auto at = text.find('$'); at != npos; at = text.find('$', at + 1))
    if (reference_at(text, at).length > 0) return true;
  return false;
}

std::vector<Word> with_arguments(std::vector<Word> words, std::string_view line,
                                 const std::vector<std::string>& arguments) {
  std::vector<Word> filled;
  filled.reserve(words.size());
  for (auto& word : words) {
    const bool literal = word.quoted && line[word.begin] != '"';
    if (!literal && (word.text == "$@" || word.text == "${@}")) {
      for (const auto& text : arguments)
        filled.push_back({.text = text,
                          .begin = word.begin,
                          .end = word.end,
                          .quoted = word.quoted || needs_quotes(text)});
      continue;
    }
    if (!literal) fill(word, arguments);
    filled.push_back(std::move(word));
  }
  return filled;
}

std::vector<std::string> typed_commands(std::string_view line) {
  const auto sign = program_sign(line);
  const auto before = line.substr(0, sign);
  auto commands = split_commands(before);
  if (sign == npos || ends_in_comment(before)) return commands;
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
    return end == npos || ends_in_comment(line) ? std::nullopt
                                                : std::optional(std::string(line.substr(0, end)));
  } catch (const UsageError&) {
    return std::nullopt;  // the interpreter will report the error
  }
}

CommandLine parse_command_line(std::string_view line, bool redirects,
                               const std::vector<std::string>* arguments) {
  const auto operators = redirects ? operators_in(line) : std::vector<Operator>();
  for (const auto& one : operators)
    if (one.kind == OperatorKind::Foreign) refuse_operator(one.text_in(line));
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
