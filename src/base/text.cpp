// Text: UTF-8, its width on a terminal, escapes for terminals, and the words closest to a
// misspelled one.
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <cwchar>
#include <iterator>
#include <tuple>

namespace zksh {
namespace {

struct Lead {
  std::size_t length;  ///< 0: this byte cannot begin a sequence
  unsigned bits;
  unsigned smallest;  ///< smaller code points are overlong
};

Lead lead_of(unsigned byte) {
  if (byte < 0x80U) return {1, byte, 0};
  if (byte >= 0xC2U && byte < 0xE0U) return {2, byte & 0x1FU, 0x80};
  if (byte >= 0xE0U && byte < 0xF0U) return {3, byte & 0x0FU, 0x800};
  if (byte >= 0xF0U && byte < 0xF5U) return {4, byte & 0x07U, 0x10000};
  return {0, 0, 0};
}

/// While it lives, this thread classifies characters as UTF-8: without setlocale, it would know
/// only ASCII.
class Utf8Locale {
 public:
  Utf8Locale() {
    static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    if (utf8 != nullptr) before_ = uselocale(utf8);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;
  ~Utf8Locale() {
    if (before_ != nullptr) uselocale(before_);
  }

 private:
  locale_t before_ = nullptr;
};

std::size_t width_of(const Utf8Step& step) {
  if (!step.valid) return 1;
  return static_cast<std::size_t>(std::max(0, wcwidth(static_cast<wchar_t>(step.code_point))));
}

// Characters that are invisible or change the order of display could make one name look like
// another.
bool is_deceptive(char32_t c) {
  return (c >= 0x200B && c <= 0x200F) ||  // zero width, left-to-right and right-to-left marks
         (c >= 0x2028 && c <= 0x202E) ||  // line and paragraph separators, embeddings, overrides
         (c >= 0x2060 && c <= 0x206F) ||  // word joiner, invisible operators, isolates
         c == 0x061C || c == 0xFEFF ||    // Arabic letter mark, byte order mark
         (c >= 0xE0000 && c <= 0xE007F);  // tags
}

bool is_pictograph(char32_t c) {
  return (c >= 0x2600 && c <= 0x27BF) || (c >= 0x1F000 && c <= 0x1FAFF);
}

/// Whether the character at `at` is a joiner between two emoji, which makes them one: it hides
/// nothing. `before`: the character before it.
bool joins_emoji(std::string_view text, std::size_t at, const Utf8Step& step, char32_t before) {
  constexpr char32_t joiner = 0x200D;
  constexpr char32_t emoji_form = 0xFE0F;
  const auto next = at + step.length;
  return step.code_point == joiner && next < text.size() &&
         (is_pictograph(before) || before == emoji_form) &&
         is_pictograph(decode_utf8(text, next).code_point);
}

bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7F && c <= 0x9F); }

void append_escaped(std::string& text, const Utf8Step& step, char byte) {
  const auto out = std::back_inserter(text);
  const auto c = static_cast<unsigned>(step.code_point);
  if (step.length == 1) {
    if (byte == '\n') {
      text += "\\n";
    } else if (byte == '\t') {
      text += "\\t";
    } else {
      constexpr std::string_view digits = "0123456789abcdef";
      const auto value = static_cast<unsigned char>(byte);
      text += {'\\', 'x', digits[value >> 4U], digits[value & 0xfU]};
    }
  } else if (c < 0x10000) {
    fmt::format_to(out, "\\u{:04x}", c);
  } else {
    fmt::format_to(out, "\\U{:08x}", c);
  }
}

constexpr std::size_t shown_digits = 8;

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// As much of the text's end as fits.
std::string_view end_of(std::string_view text, std::size_t columns) {
  // There could be any number of zero-width characters.
  const std::size_t longest = columns * 16 + 16;
  std::size_t width = 0;
  std::size_t at = text.size();
  while (at > 0 && text.size() - at < longest) {
    const auto begin = character_begin(text, at - 1);
    width += text_width(text.substr(begin, at - begin));
    if (width > columns) break;
    at = begin;
  }
  return text.substr(at);
}

/// The length of the guid at the beginning of the text; 0 if there is none.
std::size_t guid_length(std::string_view text) {
  constexpr std::string_view dashed = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  constexpr std::size_t plain = 32;
  const auto digits =
      static_cast<std::size_t>(std::ranges::find_if_not(text, is_hex) - text.begin());
  if (digits == plain) return plain;
  if (digits != shown_digits || text.size() < dashed.size()) return 0;
  const auto is_digit_or_dash = [](char c, char wanted) {
    return wanted == 'x' ? is_hex(c) : c == wanted;
  };
  return std::ranges::equal(text.substr(0, dashed.size()), dashed, is_digit_or_dash) ? dashed.size()
                                                                                     : 0;
}

}  // namespace

Utf8Step decode_utf8(std::string_view text, std::size_t position) {
  const Utf8Step bad{0xFFFD, 1, false};
  const auto lead = lead_of(static_cast<unsigned char>(text[position]));
  if (lead.length == 0 || text.size() - position < lead.length) return bad;
  unsigned value = lead.bits;
  for (std::size_t i = 1; i < lead.length; ++i) {
    const unsigned byte = static_cast<unsigned char>(text[position + i]);
    if ((byte & 0xC0U) != 0x80U) return bad;
    value = (value << 6U) | (byte & 0x3FU);
  }
  if (value < lead.smallest || value > 0x10FFFFU || (value >= 0xD800U && value <= 0xDFFFU)) {
    return bad;
  }
  return {static_cast<char32_t>(value), lead.length, true};
}

void append_utf8(std::string& text, char32_t code_point) {
  constexpr std::array<unsigned, 4> lead_marks{0, 0xC0, 0xE0, 0xF0};
  const auto value = static_cast<unsigned>(code_point);
  unsigned rest = value < 0x80 ? 0 : value < 0x800 ? 1 : value < 0x10000 ? 2 : 3;  // more bytes
  text += static_cast<char>(lead_marks[rest] | (value >> (6 * rest)));
  while (rest-- > 0) text += static_cast<char>(0x80U | ((value >> (6 * rest)) & 0x3FU));
}

bool is_utf8(std::string_view text) {
  if (std::ranges::all_of(text, [](char c) { return (c & 0x80) == 0; })) return true;
  for (std::size_t at = 0; at < text.size();) {
    const auto step = decode_utf8(text, at);
    if (!step.valid) return false;
    at += step.length;
  }
  return true;
}

char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower_case, lower_case);
}

bool is_printable_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

std::size_t text_width(std::string_view text) {
  if (is_printable_ascii(text)) return text.size();
  const Utf8Locale locale;
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto step = decode_utf8(text, at);
    width += width_of(step);
    at += step.length;
  }
  return width;
}

std::string cut_to_width(std::string_view text, std::size_t columns, std::string_view mark) {
  // There could be any number of zero-width characters.
  const std::size_t longest = columns * 16 + 16;
  if (text.size() <= columns) return std::string(text);
  if (text.size() <= longest && text_width(text) <= columns) return std::string(text);
  const auto room = columns - std::min(columns, text_width(mark));
  const Utf8Locale locale;
  std::size_t width = 0;
  std::size_t at = 0;
  while (at < std::min(text.size(), longest)) {
    const auto step = decode_utf8(text, at);
    width += width_of(step);
    if (width > room) break;
    at += step.length;
  }
  return std::string(text.substr(0, at)) + std::string(columns == 0 ? "" : mark);
}

std::size_t character_begin(std::string_view text, std::size_t at) {
  // At most three bytes: a run of stray continuation bytes is not one character.
  for (int i = 0; i < 3 && at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U; ++i)
    --at;
  return at;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view without_leading(std::string_view text, std::string_view characters) {
  return text.substr(std::min(text.find_first_not_of(characters), text.size()));
}

std::vector<std::string_view> lines_of(std::string_view text) {
  auto lines = split(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

namespace {

/// The end of the word that begins at `at`; a command between backquotes, to be copied, is one
/// word.
std::size_t word_end(std::string_view text, std::size_t at) {
  auto end = std::min(text.find_first_of(" \n", at), text.size());
  while (std::ranges::count(text.substr(at, end - at), '`') % 2 == 1) {
    const auto close = text.find_first_of("`\n", end);
    if (close == std::string_view::npos || text[close] == '\n') break;
    end = std::min(text.find_first_of(" \n", close), text.size());
  }
  return end;
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t columns) {
  std::string result;
  std::size_t column = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = word_end(text, at);
    const auto blanks = std::min(text.find_first_not_of(' ', end), text.size()) - end;
    const auto word = text.substr(at, end - at);
    const auto width = text_width(word);
    const auto before = result.find_last_not_of(' ') + 1;
    if (column + width > columns && before > 0 && before < result.size() &&
        result[before - 1] != '\n') {
      result.resize(before);
      result += '\n';
      column = 0;
    }
    result += word;
    result.append(blanks, ' ');
    column += width + blanks;
    at = end + blanks;
    if (at < text.size() && text[at] == '\n') {
      result += '\n';
      column = 0;
      ++at;
    }
  }
  return result;
}

std::string cut_after_word(std::string_view text, std::size_t columns, std::string_view mark) {
  const auto wide = text_width(mark);
  if (columns <= wide || text_width(text) <= columns) return cut_to_width(text, columns, mark);
  auto begin = wrapped(text, columns - wide);
  begin.resize(begin.find_last_not_of(",:;", begin.find('\n') - 1) + 1);
  begin += mark;
  return cut_to_width(begin, columns, mark);
}

std::string escape_for_terminal(std::string_view bytes, bool keep_lines) {
  if (is_printable_ascii(bytes)) return std::string(bytes);
  std::string text;
  char32_t before = 0;
  text.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const auto begin = at;
    while (at < bytes.size() && bytes[at] >= ' ' && bytes[at] <= '~') ++at;
    if (at > begin) {
      text += bytes.substr(begin, at - begin);
      before = static_cast<char32_t>(bytes[at - 1]);
      continue;
    }
    const auto step = decode_utf8(bytes, at);
    const bool kept = (keep_lines && (bytes[at] == '\n' || bytes[at] == '\t')) ||
                      joins_emoji(bytes, at, step, before);
    const bool harmful =
        !step.valid || is_control(step.code_point) || is_deceptive(step.code_point);
    before = step.code_point;
    if (harmful && !kept) {
      append_escaped(text, step, bytes[at]);
    } else {
      text += bytes.substr(at, step.length);
    }
    at += step.length;
  }
  return text;
}

std::string cut_middle(std::string_view text, std::size_t columns, std::string_view mark) {
  const auto wide = text_width(mark);
  // An end of one character tells nothing.
  if (columns < wide + 3 || text_width(text) <= columns) return cut_to_width(text, columns, mark);
  if (auto shorter = with_short_guids(text, mark); text_width(shorter) <= columns) return shorter;
  const auto first = (columns - wide) / 2;
  auto cut = cut_to_width(text, first, "");
  cut += mark;
  cut += end_of(text, columns - wide - first);
  return cut;
}

std::string with_short_guids(std::string_view text, std::string_view mark) {
  std::string shorter;
  shorter.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const bool begins = at == 0 || !is_hex(text[at - 1]);
    if (const auto length = begins ? guid_length(text.substr(at)) : 0; length > 0) {
      shorter += text.substr(at, shown_digits);
      shorter += mark;
      at += length;
    } else {
      shorter += text[at++];
    }
  }
  return shorter;
}

namespace {

// Distances are in half edits, so that wrong case costs less than a wrong letter.
constexpr std::size_t edit = 2;

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i * edit;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j * edit;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower_case(a[i - 1]) == lower_case(b[j - 1]);
      const auto replaced = a[i - 1] == b[j - 1] ? 0 : same ? edit / 2 : edit;
      cost[i][j] =
          std::min({cost[i - 1][j] + edit, cost[i][j - 1] + edit, cost[i - 1][j - 1] + replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + edit);
    }
  return cost[a.size()][b.size()];
}

}  // namespace

std::vector<std::string> suggestions(std::string_view word,
                                     std::span<const std::string> candidates) {
  constexpr std::size_t longest = 64;  // longer words are not typos, and the cost is quadratic
  if (word.empty() || word.size() > longest) return {};
  std::vector<std::tuple<std::size_t, std::string>> close;
  for (const auto& candidate : candidates) {
    const auto dashes = std::min(candidate.find_first_not_of('-'), candidate.size());
    const auto letters = std::max(word.size(), candidate.size()) - dashes;
    const bool same_letters = equal_ignoring_case(word, candidate);
    const auto away = same_letters ? edit / 2 : distance(word, candidate);
    const bool beginning = word.size() > 1 && candidate.starts_with(word);
    const auto allowed = letters > 12 ? 3 * edit : letters > 6 ? 2 * edit : edit;
    if (away <= allowed || beginning)
      close.emplace_back(beginning ? std::min(away, edit) : away, candidate);
  }
  std::ranges::sort(close);
  std::vector<std::string> best;
  for (const auto& [away, candidate] : close)
    if (best.size() < 3 && away == std::get<0>(close.front())) best.push_back(candidate);
  return best;
}

}  // namespace zksh
