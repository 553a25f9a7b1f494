// Words: splits a line into words, as zkCli.sh does.
#include "base/words.h"

#include "base/error.h"
#include "base/secrets.h"
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
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

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// The offset of the `count`th code point before `at`, or of the line's beginning.
std::size_t step_back(std::string_view line, std::size_t at, std::size_t count) {
  for (; count > 0 && at > 0; --count) {
    --at;
    // At most three bytes: a run of stray continuation bytes is not one character.
    for (int i = 0; i < 3 && at > 0 && is_continuation(line[at]); ++i) --at;
  }
  return at;
}

std::size_t step_forward(std::string_view line, std::size_t at, std::size_t count) {
  for (; count > 0 && at < line.size(); --count) at += decode_utf8(line, at).length;
  return at;
}

/// The message, with the line and a caret at byte `at` below it; without the line if it contains a
/// secret.
UsageError pointing(std::string_view message, std::string_view line, std::size_t at) {
  if (mask_secrets(line)) return UsageError(std::string(message));
  const auto begin = step_back(line, at, columns_before);
  const auto end = step_forward(line, at, columns_after);
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

unsigned digit_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return 99;
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

  unsigned number(unsigned base, std::size_t most_digits) {
    const auto limit = std::min(end_, at_ + most_digits);
    unsigned value = 0;
    for (; at_ < limit && digit_value(line_[at_]) < base; ++at_) {
      value = value * base + digit_value(line_[at_]);
    }
    return value;
  }

  std::string_view line_;
  std::size_t at_;
  std::size_t end_;
  std::string text_;
};

Word quoted_word(std::string_view line, std::size_t begin, std::size_t opening) {
  const auto closing = closing_of(line, begin);
  if (closing == npos) throw pointing("unclosed quote", line, begin);
  const auto first = begin + opening;
  std::string text = opening == 2 ? Unescaper(line, first, closing).text()
                                  : std::string(line.substr(first, closing - first));
  return {.text = std::move(text), .begin = begin, .end = closing + 1, .quoted = true};
}

// --- splitting -c

/// Whether the `;` at `at` precedes a member's client port (server.4=host:2888:3888;2181), as in
/// `reconfig` and servers' configurations. No command begins with such a number.
bool is_before_port(std::string_view text, std::size_t at) {
  if (at == 0 || is_white_space(text[at - 1])) return false;
  const auto end = text.find_first_not_of("0123456789", at + 1);
  if (end == at + 1 || at + 1 == text.size()) return false;
  return end == npos || is_white_space(text[end]) || text[end] == ',' || text[end] == '.' ||
         text[end] == ':' || text[end] == ';';
}

/// The end of the command at `at`: a `;`, a newline or the end of the text; npos if a quote is not
/// closed.
std::size_t end_of_command(std::string_view text, std::size_t at) {
  bool word_may_begin = true;
  while (at < text.size() && text[at] != '\n' && (text[at] != ';' || is_before_port(text, at))) {
    if (word_may_begin && opening_at(text, at) > 0) {
      const auto closing = closing_of(text, at);
      if (closing == npos) return npos;
      at = closing + 1;  // where the next word may begin
    } else {
      word_may_begin = is_white_space(text[at]);
      ++at;
    }
  }
  return at;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(white_space);
  if (begin == npos) return {};
  return text.substr(begin, text.find_last_not_of(white_space) - begin + 1);
}

std::vector<std::string> texts_of(const std::vector<Word>& words) {
  std::vector<std::string> texts;
  texts.reserve(words.size());
  for (const auto& word : words) texts.push_back(word.text);
  return texts;
}

bool is_blank_or_comment(std::string_view line) {
  const auto start = line.find_first_not_of(white_space);
  return start == npos || line[start] == '#';
}

std::vector<Word> split_words(std::string_view line) {
  std::vector<Word> words;
  std::size_t at = skip_blanks(line, 0);
  if (at < line.size() && line[at] == '#') return words;
  while (at < line.size()) {
    if (const auto opening = opening_at(line, at); opening > 0) {
      words.push_back(quoted_word(line, at, opening));
    } else {
      const auto end = end_of_bare(line, at);
      words.push_back({.text = std::string(line.substr(at, end - at)), .begin = at, .end = end});
    }
    at = skip_blanks(line, words.back().end);
  }
  return words;
}

std::optional<TypedWords> split_typed(std::string_view line) {
  TypedWords typed;
  std::size_t at = skip_blanks(line, 0);
  if (at < line.size() && line[at] == '#') return std::nullopt;
  try {
    for (; at < line.size(); at = skip_blanks(line, at)) {
      const auto opening = opening_at(line, at);
      const auto end = opening > 0 ? closing_of(line, at) : end_of_bare(line, at);
      const bool unfinished = opening > 0 ? end == npos : end == line.size();
      if (opening > 0 && end + 1 == line.size()) return std::nullopt;
      if (unfinished) {
        const auto first = at + opening;
        // If the last byte is a lone backslash, it would escape the quote appended here.
        typed.last = opening == 2 ? quoted_word(std::string(line) + '\'', at, opening)
                                  : Word{.text = std::string(line.substr(first)), .begin = at};
        typed.last.end = line.size();
        typed.last.quoted = opening > 0;
        typed.quote = opening > 0 ? line[at] : '\0';
        return typed;
      }
      typed.words.push_back(
          opening > 0
              ? quoted_word(line, at, opening)
              : Word{.text = std::string(line.substr(at, end - at)), .begin = at, .end = end});
      at = typed.words.back().end;
    }
  } catch (const UsageError&) {
    return std::nullopt;
  }
  typed.last.begin = typed.last.end = line.size();
  return typed;
}

std::vector<WordPlace> word_places(std::string_view line) {
  std::vector<WordPlace> places;
  std::size_t at = skip_blanks(line, 0);
  if (at < line.size() && line[at] == '#') return places;
  while (at < line.size()) {
    const bool quoted = opening_at(line, at) > 0;
    const auto closing = quoted ? closing_of(line, at) : npos;
    const auto end = !quoted ? end_of_bare(line, at) : closing == npos ? line.size() : closing + 1;
    places.push_back({.begin = at, .end = end, .quoted = quoted});
    at = skip_blanks(line, end);
  }
  return places;
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

}  // namespace zksh
