// Candidate list: several completions as a table, to be shown above the line that is typed.
#include "term/candidate_list.h"

#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cwchar>

namespace zksh {
namespace {

constexpr int gap = 2;

/// In columns of the screen.
int width_of(std::string_view text) {
  int width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto step = decode_utf8(text, at);
    width += std::max(0, wcwidth(static_cast<wchar_t>(step.code_point)));
    at += step.length;
  }
  return width;
}

/// 99960 as "99 960".
std::string grouped(std::size_t number) {
  auto digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ' ');
  return digits;
}

}  // namespace

std::string candidate_list(const std::vector<std::string>& candidates, std::size_t count,
                           ScreenSize screen) {
  std::vector<std::string> texts;
  int widest = 1;
  for (const auto& candidate : candidates) {
    texts.push_back(escape_for_terminal(candidate));
    widest = std::max(widest, width_of(texts.back()));
  }
  const auto columns =
      static_cast<std::size_t>(std::max(1, (screen.columns + gap - 1) / (widest + gap)));
  const auto row_limit = static_cast<std::size_t>(std::max(1, screen.rows - 3));
  const auto shown = std::min(texts.size(), columns * row_limit);
  const auto rows = (shown + columns - 1) / columns;
  std::string list;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t at = row; at < shown; at += rows) {
      list += texts[at];
      if (at + rows < shown)
        list.append(static_cast<std::size_t>(widest + gap - width_of(texts[at])), ' ');
    }
    list += '\n';
  }
  if (shown < count) list += fmt::format("… and {} more\n", grouped(count - shown));
  return list;
}

}  // namespace zksh
