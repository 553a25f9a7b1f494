// Quoting: writes a text as a word that split_words reads back.
#include "base/quoting.h"

#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace zksh {
namespace {

bool is_shown(std::string_view text) {
  return is_printable_ascii(text) || escape_for_terminal(text) == text;
}

/// A blank, or what is a pattern or an operator at any place of a word.
bool needs_quotes(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || c == '*' || c == '?' || c == '[' || c == ';' ||
         c == '|' || c == '<' || c == '>';
}

bool may_be_bare(std::string_view text) {
  constexpr auto npos = std::string_view::npos;
  return !text.empty() && std::ranges::none_of(text, needs_quotes) &&
         std::string_view("\"'#!").find(text.front()) == npos && !text.starts_with("$'") &&
         text != "&" && text.find("&&") == npos;
}

bool fits(std::string_view text, char quote) {
  if (quote == '$') return true;
  return is_shown(text) &&
         (quote == '\0' ? may_be_bare(text) : text.find(quote) == std::string_view::npos);
}

/// Whether the text contains $1, ${1}, $# or $@.
bool may_name_argument(std::string_view text) {
  for (auto at = text.find('$'); at != std::string_view::npos; at = text.find('$', at + 1))
    if (at + 1 < text.size() &&
        std::string_view("0123456789#@{").find(text[at + 1]) != std::string_view::npos)
      return true;
  return false;
}

char quote_for(std::string_view text, char wanted) {
  for (const char quote : {wanted, '\0', '"', '\''})
    if (fits(text, quote)) return quote;
  return '$';
}

std::string escaped(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const auto step = decode_utf8(text, at);
    const auto character = text.substr(at, step.length);
    const auto number = static_cast<unsigned>(step.code_point);
    at += step.length;
    if (character == "'" || character == "\\")
      result += '\\' + std::string(character);
    else if (character == "\n")
      result += "\\n";
    else if (character == "\t")
      result += "\\t";
    else if (!step.valid || number < 0x80)
      result += is_shown(character)
                    ? std::string(character)
                    : fmt::format("\\x{:02x}", static_cast<unsigned char>(character.front()));
    else if (is_shown(character))
      result += character;
    else
      result +=
          number > 0xFFFF ? fmt::format("\\U{:08x}", number) : fmt::format("\\u{:04x}", number);
  }
  return result;
}

}  // namespace

WrittenWord write_word(std::string_view text, char quote) {
  const char chosen = quote_for(text, quote);
  if (chosen == '\0') return {.text = std::string(text)};
  if (chosen == '$') return {.text = "$'" + escaped(text), .closing = "'"};
  return {.text = chosen + std::string(text), .closing = std::string(1, chosen)};
}

std::string as_word(std::string_view text) {
  auto word = write_word(text);
  // A script would expand it, also within "…".
  if (may_name_argument(text))
    for (const char quote : {'\'', '$'})
      if (word.closing != "'") word = write_word(text, quote);
  return std::move(word.text) + word.closing;
}

std::string as_words(const std::vector<std::string>& words) {
  std::string line;
  for (const auto& word : words) {
    if (!line.empty()) line += ' ';
    line += as_word(word);
  }
  return line;
}

}  // namespace zksh
