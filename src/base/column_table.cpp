// ColumnTable: tables and lists laid out in columns that fit a width.
#include "base/column_table.h"

#include "base/text.h"

#include <algorithm>

namespace zksh {
namespace {

constexpr std::size_t gap = 2;

/// The width of the widest text; at least `least`.
std::size_t widest_of(const std::vector<std::string>& texts, std::size_t least = 1) {
  for (const auto& text : texts) least = std::max(least, text_width(text));
  return least;
}

}  // namespace

ColumnTable::ColumnTable(std::vector<Column> columns) {
  for (auto& column : columns) add(std::move(column));
}

void ColumnTable::add_row(std::vector<std::string> cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    widths_[i] = std::max(widths_[i], text_width(cells[i]));
    columns_[i].cells.push_back(std::move(cells[i]));
  }
}

std::size_t ColumnTable::add(Column column) {
  columns_.push_back(std::move(column));
  dropped_.push_back(false);
  widths_.push_back(0);
  measure(columns_.size() - 1);
  return columns_.size() - 1;
}

void ColumnTable::replace_cells(std::size_t number, std::vector<std::string> cells) {
  columns_[number].cells = std::move(cells);
  measure(number);
}

void ColumnTable::drop(std::size_t number) { dropped_[number] = true; }

void ColumnTable::measure(std::size_t number) {
  const auto& [title, right, cells] = columns_[number];
  widths_[number] = widest_of(cells, text_width(title));
}

std::size_t ColumnTable::width(std::size_t elastic) const {
  std::size_t total = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (dropped_[i]) continue;
    const bool gives_way = !elastic_.empty() && elastic_.front().number == i;
    total += (total > 0 ? gap : 0) + (gives_way ? std::min(elastic, widths_[i]) : widths_[i]);
  }
  return total;
}

std::vector<std::string> ColumnTable::lines(std::size_t columns, const std::string& mark) const {
  auto widths = widths_;
  std::vector<bool> cut_in_middle(columns_.size());
  const auto wanted = width(std::string::npos);
  auto excess = columns > 0 && wanted > columns ? wanted - columns : 0;
  for (const auto& [number, cut, least] : elastic_) {
    const auto given = std::min(excess, widths[number] - std::min(widths[number], least));
    widths[number] -= given;
    excess -= given;
    cut_in_middle[number] = cut == Cut::Middle;
  }
  const auto row = [&](auto&& text_of) {
    std::string line;
    bool first = true;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (dropped_[i]) continue;
      const auto& whole = text_of(columns_[i]);
      const auto text = cut_in_middle[i] ? cut_middle(whole, widths[i], mark)
                                         : cut_to_width(whole, widths[i], mark);
      const std::string fill(widths[i] - std::min(widths[i], text_width(text)), ' ');
      if (!first) line.append(gap, ' ');
      first = false;
      line += columns_[i].right ? fill + text : text + fill;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
  };
  const auto rows = columns_.empty() ? 0 : columns_.front().cells.size();
  std::vector<std::string> lines;
  lines.reserve(rows + 1);
  lines.push_back(row([](const Column& column) -> const std::string& { return column.title; }));
  for (std::size_t k = 0; k < rows; ++k)
    lines.push_back(
        row([k](const Column& column) -> const std::string& { return column.cells[k]; }));
  return lines;
}

std::size_t texts_in_a_row(const std::vector<std::string>& texts, std::size_t columns) {
  return std::max<std::size_t>(1, (columns + gap - 1) / (widest_of(texts) + gap));
}

std::string in_text_columns(const std::vector<std::string>& texts, std::size_t count,
                            std::size_t columns,
                            const std::function<std::string_view(std::string_view)>& color) {
  const auto in_a_row = texts_in_a_row(texts, columns);
  const auto rows = (count + in_a_row - 1) / in_a_row;
  const auto widest = widest_of(texts);
  std::string list;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t at = row; at < count; at += rows) {
      const auto colored = color ? color(texts[at]) : std::string_view();
      list += colored;
      list += texts[at];
      if (!colored.empty()) list += "\x1b[0m";
      if (at + rows < count) list.append(widest + gap - text_width(texts[at]), ' ');
    }
    list += '\n';
  }
  return list;
}

}  // namespace zksh
