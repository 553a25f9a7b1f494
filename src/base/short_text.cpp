// ShortText: paths and names made shorter for people, without losing what tells them apart.
#include "base/short_text.h"

#include "base/text.h"

#include <algorithm>

namespace zksh {
namespace {

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

}  // namespace zksh
