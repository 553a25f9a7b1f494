// Text width: wcwidth in a locale of its own.
#include "base/text_width.h"

#include "base/utf8.h"

#include <algorithm>
#include <clocale>
#include <cwchar>

namespace zksh {
namespace {

/// While it lives, this thread's character classes are those of UTF-8: a program that never calls
/// setlocale has ASCII's alone.
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

}  // namespace

std::size_t text_width(std::string_view text) {
  if (std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; })) return text.size();
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
  // Characters of no width could go on for ever.
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

}  // namespace zksh
