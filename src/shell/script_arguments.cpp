// Script arguments: substitutes $1, $2, …, $# and $@ in the lines of a script.
#include "shell/script_arguments.h"

#include "base/error.h"
#include "base/number.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace zksh {
namespace {

constexpr std::string_view digits = "0123456789";

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
  return text.starts_with('-') || text.find_first_of("*?[") != std::string_view::npos;
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

}  // namespace

bool names_arguments(std::string_view text) {
  for (auto at = text.find('$'); at != std::string_view::npos; at = text.find('$', at + 1))
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

}  // namespace zksh
