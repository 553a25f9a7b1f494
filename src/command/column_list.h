// ColumnList: the columns of a command's rows, said once for its table, its plain lines and JSON.
#pragma once

#include "base/column_table.h"
#include "base/json.h"
#include "base/text.h"
#include "command/output.h"

#include <fmt/core.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zksh {

/// What a column holds of a row. Unknown values are "-" in text, and null in JSON.
struct ColumnValue {
  std::string text;  ///< untrusted
  Json json{};

  ColumnValue(const std::string& value)
      : text(value.empty() ? "-" : value), json(Json::text_or_null(value)) {}
  template <std::integral Number>
  ColumnValue(const std::optional<Number>& value)
      : text(value ? fmt::format("{}", *value) : "-"), json(value) {}
  ColumnValue(std::string shown, Json value) : text(std::move(shown)), json(std::move(value)) {}
};

template <class Row>
struct ListedColumn {
  std::string title{};     ///< in the table; empty: not there
  std::string_view key{};  ///< of the JSON field; empty: not there
  std::function<ColumnValue(const Row&)> value;
  bool right = false;  ///< right-aligned in the table, for numbers
  bool plain = true;   ///< in plain lines
  int gives_way = 0;   ///< where the table is too wide, 1 is left out first; 0: never
  /// Not 0: its cells are cut where the table is too wide, but not below this. One column at most.
  std::size_t least_width = 0;
};
template <class Row>
using ColumnList = std::vector<ListedColumn<Row>>;

/// The lines of a table of the rows, the titles first, and escaped. `width`: that of the terminal;
/// 0: no limit. Numbers are never cut, and so lines may be longer. `mark` ends a cell that was cut.
template <class Row>
std::vector<std::string> table_lines(const ColumnList<Row>& columns, const std::vector<Row>& rows,
                                     std::size_t width, const std::string& mark) {
  ColumnTable table;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  std::map<int, std::size_t> giving_way;
  for (const auto& column : columns) {
    if (column.title.empty()) continue;
    const auto number = table.add(column.title, column.right, rows, [&](const Row& row) {
      return escape_for_terminal(column.value(row).text);
    });
    if (column.least_width > 0) {
      table.set_elastic(number);
      least = column.least_width;
    }
    if (column.gives_way > 0) giving_way[column.gives_way] = number;
  }
  for (const auto& [order, number] : giving_way)
    if (width > 0 && table.width(least) > width) table.drop(number);
  return table.lines(width == 0 ? 0 : std::max(width, table.width(least)), mark);
}

/// Prints a line for each row: `kind`, and the values with tabs between them.
template <class Row>
void print_rows(Output& out, std::string_view kind, const ColumnList<Row>& columns,
                const std::vector<Row>& rows) {
  for (const auto& row : rows) {
    std::string line(kind);
    bool first = true;
    for (const auto& column : columns) {
      if (!column.plain) continue;
      if (!std::exchange(first, false)) line += '\t';
      line += out.shown(column.value(row).text);
    }
    out.line("{}", line);
  }
}

/// An array with an object for each row.
template <class Row>
Json rows_json(const ColumnList<Row>& columns, const std::vector<Row>& rows) {
  return Json::array(rows, [&](const Row& row) {
    auto json = Json::object();
    for (const auto& column : columns)
      if (!column.key.empty()) json.set(column.key, column.value(row).json);
    return json;
  });
}

}  // namespace zksh
