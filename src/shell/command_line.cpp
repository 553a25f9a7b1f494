// CommandLine: splits a line into the command's words and the redirection of its results.
#include "shell/command_line.h"

#include "base/error.h"
#include "base/file.h"
#include "shell/script_arguments.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace zksh {
namespace {

using Kind = RedirectTo::Kind;
constexpr auto npos = std::string_view::npos;

/// An unquoted operator: byte offsets into the line.
struct Sign {
  std::size_t begin = npos;
  std::size_t end = npos;
};

/// The end of a quote that opens inside a bare word, so that `{"a":">"}` is one value; npos if it
/// is not closed: an apostrophe.
std::size_t closing_inside(std::string_view word, std::size_t at) {
  return word[at] == '"' || word[at] == '\'' ? word.find(word[at], at + 1) : npos;
}

Sign sign_in(std::string_view line, const WordPlace& place) {
  const auto word = line.substr(0, place.end);
  for (auto at = place.begin; at < word.size(); ++at) {
    if (const auto closing = closing_inside(word, at); closing != npos) {
      at = closing;
    } else if (word[at] == '|' || word[at] == '>') {
      const bool twice = at + 1 < word.size() && word[at + 1] == word[at];
      return {.begin = at, .end = at + (twice ? 2 : 1)};
    }
  }
  return {};
}

/// Refuses the operators of other shells, with a replacement.
void refuse_foreign(std::string_view word) {
  if (word.find("&&") != npos)
    throw ValueError(
        "zksh has no &&; use ;, which stops after a failure (to use && as a value, quote it)");
  if (word.starts_with('<'))
    throw ValueError(
        "zksh has no <; use @FILE as the value to read it from a file (to use < as a value, quote "
        "it)");
}

/// Finds the first unquoted operator; refuses other shells' operators before it.
Sign first_sign(std::string_view line) {
  for (const auto& place : word_places(line)) {
    if (place.quoted()) continue;
    const auto sign = sign_in(line, place);
    refuse_foreign(line.substr(place.begin, std::min(sign.begin, place.end) - place.begin));
    if (sign.begin == npos) continue;
    if (line.substr(sign.begin, sign.end - sign.begin) == "||")
      throw ValueError(
          "zksh has no ||; use your shell's (zksh … || zksh …), or quote || to use it as a value");
    return sign;
  }
  return {};
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

/// The position of the first unquoted `|`; npos if there is none.
std::size_t program_sign(std::string_view line) {
  for (const auto& place : word_places(line)) {
    if (place.quoted()) continue;
    const auto sign = sign_in(line, place);
    if (sign.begin != npos && line[sign.begin] == '|') return sign.begin;
  }
  return npos;
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

CommandLine parse_command_line(std::string_view line, bool redirects,
                               const std::vector<std::string>* arguments) {
  const auto found = redirects ? first_sign(line) : Sign();
  CommandLine parsed{.words = filled_words(line.substr(0, found.begin), arguments)};
  if (found.begin == npos) return parsed;
  const auto sign = line.substr(found.begin, found.end - found.begin);
  auto rest = line.substr(found.end);
  parsed.to.kind = sign == "|" ? Kind::Program : sign == ">" ? Kind::File : Kind::Append;
  if (parsed.words.empty()) throw ValueError(fmt::format("a command is missing before {}", sign));
  if (parsed.to.kind == Kind::Program) {
    rest.remove_prefix(std::min(rest.find_first_not_of(white_space), rest.size()));
    if (rest.empty()) throw ValueError("no program after | (to use | as a value, quote it)");
    parsed.to.target = rest;
  } else {
    parsed.to.target = file_behind(sign, rest, arguments);
  }
  return parsed;
}

}  // namespace zksh
