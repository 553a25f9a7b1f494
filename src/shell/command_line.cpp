// Command line: a line parted into the command's words and where its results go.
#include "shell/command_line.h"

#include "base/error.h"
#include "base/home.h"

#include <fmt/core.h>

#include <algorithm>

namespace zksh {
namespace {

using Kind = RedirectTo::Kind;

Kind kind_of(const Word& word) {
  if (word.quoted) return Kind::Nowhere;
  if (word.text == "|") return Kind::Program;
  if (word.text == ">") return Kind::File;
  return word.text == ">>" ? Kind::Append : Kind::Nowhere;
}

std::string file_name(const Word& word) { return word.quoted ? word.text : with_home(word.text); }

std::string file_behind(const std::vector<Word>& words, std::size_t sign) {
  const auto& text = words[sign].text;
  if (sign + 1 == words.size())
    throw ValueError(
        fmt::format("a file's name is missing behind {} (as a value it wants quotes)", text));
  if (sign + 2 < words.size())
    throw ValueError(
        fmt::format("\"{}\" is left over behind the file of {} (as a value, {} wants "
                    "quotes)",
                    words[sign + 2].text, text, text));
  return file_name(words[sign + 1]);
}

}  // namespace

CommandLine parse_command_line(std::string_view line, bool redirects) {
  CommandLine parsed{.words = split_words(line)};
  auto& words = parsed.words;
  const auto found =
      std::ranges::find_if(words, [](const Word& word) { return kind_of(word) != Kind::Nowhere; });
  if (!redirects || found == words.end()) return parsed;
  const auto sign = static_cast<std::size_t>(found - words.begin());
  parsed.to.kind = kind_of(*found);
  if (sign == 0) throw ValueError(fmt::format("a command is missing before {}", found->text));
  if (parsed.to.kind == Kind::Program) {
    if (sign + 1 == words.size())
      throw ValueError("a program is missing behind | (as a value it wants quotes)");
    parsed.to.target = line.substr(words[sign + 1].begin);
  } else {
    parsed.to.target = file_behind(words, sign);
  }
  words.resize(sign);
  return parsed;
}

}  // namespace zksh
