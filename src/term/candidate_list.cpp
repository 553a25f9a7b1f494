// Candidate list: several completions as a table, to be shown above the line that is typed.
#include "term/candidate_list.h"

#include "base/column_table.h"
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>

namespace zksh {
namespace {

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
  texts.reserve(candidates.size());
  for (const auto& candidate : candidates) texts.push_back(escape_for_terminal(candidate));
  const auto columns = static_cast<std::size_t>(std::max(1, screen.columns));
  const auto row_limit = static_cast<std::size_t>(std::max(1, screen.rows - 3));
  const auto shown = std::min(texts.size(), texts_in_a_row(texts, columns) * row_limit);
  auto list = in_text_columns(texts, shown, columns);
  if (shown < count) list += fmt::format("… and {} more\n", grouped(count - shown));
  return list;
}

}  // namespace zksh
