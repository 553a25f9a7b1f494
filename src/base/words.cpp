// Words: splits a line into words, as zkCli.sh does.
#include "base/words.h"

#include "base/error.h"
#include "base/mapped.h"
#include "base/secrets.h"
#include "base/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace zksh {
namespace {

constexpr auto npos = std::string_view::npos;

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(white_space, at), text.size());
}

std::size_t end_of_bare(std::string_view text, std::size_t at) {
  return std::min(text.find_first_of(white_space, at), text.size());
}

/// The length of the quote that opens a word at `at`: 1 for " and ', 2 for $', 0 for none.
std::size_t opening_at(std::string_view text, std::size_t at) {
  if (text[at] == '"' || text[at] == '\'') return 1;
  return text.substr(at, 2) == "$'" ? 2 : 0;
}

/// The position of the closing quote of the word at `begin`; npos if there is none.
std::size_t closing_of(std::string_view text, std::size_t begin) {
  if (text[begin] != '$') return text.find(text[begin], begin + 1);
  for (std::size_t at = begin + 2; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '\'') {
      return at;
    }
  }
  return npos;
}

// --- pointing at an error

constexpr std::size_t columns_before = 48;  // of a long line, shown before and after the error
constexpr std::size_t columns_after = 24;

/// The message, with the line and a caret at byte `at` below it; without the line if it contains a
/// secret.
UsageError pointing(std::string_view message, std::string_view line, std::size_t at) {
  if (mask_secrets(line)) return UsageError(std::string(message));
  auto begin = at;
  for (auto left = columns_before; left > 0 && begin > 0; --left)
    begin = character_begin(line, begin - 1);
  auto end = at;
  for (auto left = columns_after; left > 0 && end < line.size(); --left)
    end += decode_utf8(line, end).length;
  std::string before = begin > 0 ? "…" : "";
  before += escape_for_terminal(line.substr(begin, at - begin));
  std::string after = escape_for_terminal(line.substr(at, end - at));
  if (end < line.size()) after += "…";
  return UsageError(
      fmt::format("{}\n  {}{}\n  {:{}}^", message, before, after, "", text_width(before)));
}

// --- the escapes of $'…'

std::optional<char> simple_escape(char letter) {
  constexpr std::string_view letters = "ntrabefv\\'\"?";
  constexpr std::string_view meanings = "\n\t\r\a\b\x1b\f\v\\'\"?";
  const auto at = letters.find(letter);
  return at == npos ? std::nullopt : std::optional(meanings[at]);
}

/// Replaces the escapes between $' and '.
class Unescaper {
 public:
  Unescaper(std::string_view line, std::size_t begin, std::size_t end)
      : line_(line), at_(begin), end_(end) {}

  std::string text() {
    while (at_ < end_) {
      // The closing quote is not escaped, so a byte follows each backslash.
      const auto rest = line_.substr(at_, end_ - at_);
      const auto plain = rest.substr(0, rest.find('\\'));
      text_ += plain;
      at_ += plain.size();
      if (at_ < end_) take_escape();
    }
    return std::move(text_);
  }

 private:
  void take_escape() {
    const auto begin = at_;
    const char letter = line_[++at_];
    if (const auto simple = simple_escape(letter)) {
      text_ += *simple;
      ++at_;
    } else if (letter >= '0' && letter <= '7') {
      const unsigned byte = number(8, 3);
      if (byte > 0xFF) throw pointing("octal escapes go up to \\377", line_, begin);
      text_ += static_cast<char>(byte);
    } else if (letter == 'x') {
      text_ += static_cast<char>(hexadecimal(begin, 2));
    } else if (letter == 'u' || letter == 'U') {
      const unsigned value = hexadecimal(begin, letter == 'u' ? 4 : 8);
      const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
      if (surrogate || value > 0x10FFFF) throw pointing("no such Unicode character", line_, begin);
      append_utf8(text_, value);
    } else {
      throw pointing("unknown escape in $'…'; a backslash is written \\\\", line_, begin);
    }
  }

  unsigned hexadecimal(std::size_t begin, std::size_t most_digits) {
    const auto first = ++at_;
    const unsigned value = number(16, most_digits);
    if (at_ == first) throw pointing("missing hexadecimal digits", line_, begin);
    return value;
  }

  unsigned number(int base, std::size_t most_digits) {
    const char* const first = line_.data() + at_;
    unsigned value = 0;
    const auto [stop, problem] =
        std::from_chars(first, first + std::min(end_ - at_, most_digits), value, base);
    at_ += static_cast<std::size_t>(stop - first);
    return value;
  }

  std::string_view line_;
  std::size_t at_;
  std::size_t end_;
  std::string text_;
};

// --- words and their places

WordPlace place_at(std::string_view line, std::size_t begin) {
  const auto opening = opening_at(line, begin);
  if (opening == 0) return {.begin = begin, .end = end_of_bare(line, begin)};
  const auto closing = closing_of(line, begin);
  const bool open = closing == npos;
  return {
      .begin = begin, .end = open ? line.size() : closing + 1, .opening = opening, .open = open};
}

/// Throws UsageError for an open quote and an invalid escape.
Word word_at(std::string_view line, const WordPlace& place) {
  if (place.open) throw pointing("unclosed quote", line, place.begin);
  const auto first = place.text_begin();
  const auto last = place.text_end();
  return {.text = place.opening == 2 ? Unescaper(line, first, last).text()
                                     : std::string(line.substr(first, last - first)),
          .begin = place.begin,
          .end = place.end,
          .quoted = place.quoted()};
}

// --- splitting -c

/// Whether the `;` at `at` precedes a member's client port (server.4=host:2888:3888;2181), as in
/// `reconfig` and servers' configurations. No command begins with such a number.
bool is_before_port(std::string_view text, std::size_t at) {
  if (at == 0 || is_white_space(text[at - 1])) return false;
  const auto end = text.find_first_not_of("0123456789", at + 1);
  if (end == at + 1 || at + 1 == text.size()) return false;
  return end == npos || std::string_view(" \t\n\v\f\r,.:;").find(text[end]) != npos;
}

/// The end of what /bin/sh reads as one at `at`: a quoted text, an escape or a character; npos if a
/// quote is not closed.
std::size_t end_of_sh_unit(std::string_view text, std::size_t at) {
  if (text[at] == '\\') return std::min(at + 2, text.size());
  if (text[at] != '\'' && text[at] != '"') return at + 1;
  auto closing = at + 1;
  while (closing < text.size() && text[closing] != text[at])
    closing += text[at] == '"' && text[closing] == '\\' ? 2 : 1;
  return closing < text.size() ? closing + 1 : npos;
}

/// The end of the command at `at`: a `;`, a newline or the end of the text; npos if a quote is not
/// closed. What follows an unquoted `|` has the quotes of /bin/sh.
std::size_t end_of_command(std::string_view text, std::size_t at) {
  bool word_may_begin = true;
  bool in_program = false;
  while (at < text.size() && text[at] != '\n' && (text[at] != ';' || is_before_port(text, at))) {
    in_program = in_program || text[at] == '|';
    if (in_program) {
      at = end_of_sh_unit(text, at);
    } else if (word_may_begin && opening_at(text, at) > 0) {
      const auto closing = closing_of(text, at);
      at = closing == npos ? npos : closing + 1;  // where the next word may begin
    } else {
      word_may_begin = is_white_space(text[at]);
      ++at;
    }
  }
  return at;
}

bool fits(std::string_view text, char quote) {
  if (quote == '$') return true;
  if (escape_for_terminal(text) != text) return false;
  if (quote != '\0') return text.find(quote) == npos;
  // Blanks, and what makes a word a pattern or is an operator anywhere in it.
  return !text.empty() && text.find_first_of(" \t\n\v\f\r*?[;|<>") == npos &&
         std::string_view("\"'#!").find(text.front()) == npos && !text.starts_with("$'") &&
         text != "&" && text.find("&&") == npos;
}

/// Whether the text contains $1, ${1}, $# or $@.
bool may_name_argument(std::string_view text) {
  for (auto at = text.find('$'); at != npos; at = text.find('$', at + 1))
    if (at + 1 < text.size() && std::string_view("0123456789#@{").find(text[at + 1]) != npos)
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
    const auto character = text.substr(at, decode_utf8(text, at).length);
    at += character.size();
    if (character == "'" || character == "\\") result += '\\';
    result += escape_for_terminal(character);
  }
  return result;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(white_space);
  if (begin == npos) return {};
  return text.substr(begin, text.find_last_not_of(white_space) - begin + 1);
}

std::vector<std::string> texts_of(const std::vector<Word>& words) {
  return mapped(words, &Word::text);
}

bool is_blank_or_comment(std::string_view line) {
  const auto start = line.find_first_not_of(white_space);
  return start == npos || line[start] == '#';
}

std::optional<WordPlace> word_place_from(std::string_view line, std::size_t at) {
  const auto begin = skip_blanks(line, at);
  return begin < line.size() ? std::optional(place_at(line, begin)) : std::nullopt;
}

std::vector<WordPlace> word_places(std::string_view line) {
  std::vector<WordPlace> places;
  if (is_blank_or_comment(line)) return places;
  for (auto place = word_place_from(line, 0); place; place = word_place_from(line, place->end))
    places.push_back(*place);
  return places;
}

std::vector<Word> split_words(std::string_view line) {
  return mapped(word_places(line), [&](const WordPlace& place) { return word_at(line, place); });
}

std::vector<Word> split_as_zkcli(std::string_view line) {
  std::vector<Word> words;
  for (auto at = skip_blanks(line, 0); at < line.size(); at = skip_blanks(line, at)) {
    if (line[at] != '"' && line[at] != '\'') {
      const auto end = end_of_bare(line, at);
      words.push_back({.text = std::string(line.substr(at, end - at)), .begin = at, .end = end});
      at = end;
      continue;
    }
    const auto closing = line.find(line[at], at + 1);
    if (closing != npos)
      words.push_back({.text = std::string(line.substr(at + 1, closing - at - 1)),
                       .begin = at,
                       .end = closing + 1,
                       .quoted = true});
    at = closing == npos ? at + 1 : closing + 1;
  }
  // Where there are only blanks, zkCli's pattern takes the last for a word.
  if (!line.empty() && skip_blanks(line, 0) == line.size())
    words.push_back(
        {.text = std::string(1, line.back()), .begin = line.size() - 1, .end = line.size()});
  return words;
}

std::optional<TypedWords> split_typed(std::string_view line) {
  auto places = word_places(line);
  if (places.empty() && line.find('#') != npos) return std::nullopt;  // a comment
  TypedWords typed;
  typed.last.begin = line.size();
  try {
    if (!places.empty() && places.back().end == line.size()) {
      const auto last = places.back();
      places.pop_back();
      if (last.quoted() && !last.open) return std::nullopt;
      typed.quote = last.open ? line[last.begin] : '\0';
      // After a lone backslash, the quote appended here closes nothing.
      std::string closed(line);
      if (last.open) closed += typed.quote == '$' ? '\'' : typed.quote;
      typed.last = word_at(closed, place_at(closed, last.begin));
    }
    for (const auto& place : places) typed.words.push_back(word_at(line, place));
  } catch (const UsageError&) {
    return std::nullopt;
  }
  typed.last.end = line.size();
  return typed;
}

std::vector<TextPart> parts_of(std::string_view text, PartBy by) {
  std::vector<TextPart> parts;
  std::size_t begin = 0;
  for (std::size_t at = 0;; ++at) {
    at = std::min(text.find_first_not_of(" \t\v\f\r", at), text.size());
    const bool comment = at < text.size() && text[at] == '#';  // a comment contains its `;`
    const auto end = comment ? text.find('\n', at) : end_of_command(text, at);
    at = std::min(end, text.size());
    if (by == PartBy::Command || at == text.size() || text[at] == '\n') {
      parts.push_back({.begin = begin, .end = at, .open = !comment && end == npos});
      begin = at + 1;
    }
    if (at == text.size()) return parts;
  }
}

std::vector<std::string> split_commands(std::string_view text) {
  std::vector<std::string> commands;
  for (const auto& part : parts_of(text, PartBy::Command)) {
    const auto command = trimmed(text.substr(part.begin, part.end - part.begin));
    if (!command.empty() && command.front() != '#') commands.emplace_back(command);
  }
  return commands;
}

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
  return fmt::format("{}", fmt::join(mapped(words, as_word), " "));
}

}  // namespace zksh
