// Text columns: short texts side by side, as ls of a shell lists them.
#include "base/text_columns.h"

#include "base/text.h"

#include <algorithm>

namespace zksh {
namespace {

constexpr std::size_t gap = 2;

std::size_t widest_of(const std::vector<std::string>& texts) {
  std::size_t widest = 1;
  for (const auto& text : texts) widest = std::max(widest, text_width(text));
  return widest;
}

}  // namespace

std::size_t texts_in_a_row(const std::vector<std::string>& texts, std::size_t columns) {
  return std::max<std::size_t>(1, (columns + gap - 1) / (widest_of(texts) + gap));
}

std::string in_text_columns(const std::vector<std::string>& texts, std::size_t count,
                            std::size_t columns) {
  const auto in_a_row = texts_in_a_row(texts, columns);
  const auto rows = (count + in_a_row - 1) / in_a_row;
  const auto widest = widest_of(texts);
  std::string list;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t at = row; at < count; at += rows) {
      list += texts[at];
      if (at + rows < count) list.append(widest + gap - text_width(texts[at]), ' ');
    }
    list += '\n';
  }
  return list;
}

}  // namespace zksh
