// Record: the fields of a command's rows, declared once for its table, its plain lines and JSON.
#pragma once

#include "base/column_table.h"
#include "base/json.h"
#include "base/text.h"
#include "command/output.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <concepts>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zksh {

/// The value of a field in a row. Unknown values are "-" in text, and null in JSON.
struct FieldValue {
  std::string text;  ///< untrusted
  Json json{};

  template <std::convertible_to<std::string_view> Text>
  FieldValue(const Text& value) : text(value), json(Json::text_or_null(value)) {
    if (text.empty()) text = "-";
  }
  template <std::integral Number>
  FieldValue(Number value) : text(fmt::format("{}", value)), json(value) {}
  template <std::integral Number>
  FieldValue(const std::optional<Number>& value)
      : text(value ? fmt::format("{}", *value) : "-"), json(value) {}
  FieldValue(std::string shown, Json value) : text(std::move(shown)), json(std::move(value)) {}
};

/// How text shows a field.
struct Column {
  std::string title{};  ///< in the table; empty: not there
  bool right = false;   ///< right-aligned in the table, for numbers
  bool plain = true;    ///< in plain lines
  int gives_way = 0;    ///< where the table is too wide, 1 is left out first; 0: never
  /// Not 0: its cells are cut where the table is too wide, but not below this. The last such column
  /// is cut first.
  std::size_t least_width = 0;
  ColumnTable::Cut cut = ColumnTable::Cut::End;
};

template <class Row>
struct Field {
  std::string_view name{};  ///< in JSON; empty: not there
  std::function<FieldValue(const Row&)> of;
  Column column{};
};
template <class Row>
using Record = std::vector<Field<Row>>;

/// The lines of a table of the rows, the titles first, and escaped. `width`: that of the terminal;
/// 0: no limit. Numbers are never cut, and so lines may be longer. `mark` ends a cell that was cut.
template <class Row>
std::vector<std::string> table_lines(const Record<Row>& record, const std::vector<Row>& rows,
                                     std::size_t width, const std::string& mark) {
  ColumnTable table;
  std::map<int, std::size_t> giving_way;
  std::vector<std::pair<std::size_t, const Column*>> elastic;
  for (const auto& [name, of, column] : record) {
    if (column.title.empty()) continue;
    const auto number = table.add(column.title, column.right, rows, [&of = of](const Row& row) {
      return escape_for_terminal(of(row).text);
    });
    if (column.least_width > 0) elastic.emplace_back(number, &column);
    if (column.gives_way > 0) giving_way[column.gives_way] = number;
  }
  const auto least = elastic.empty() ? 0 : elastic.back().second->least_width;
  for (; !elastic.empty(); elastic.pop_back())
    table.set_elastic(elastic.back().first, elastic.back().second->cut,
                      elastic.back().second->least_width);
  for (const auto& [order, number] : giving_way)
    if (width > 0 && table.width(least) > width) table.drop(number);
  return table.lines(width, mark);
}

template <class Row>
Json record_json(const Record<Row>& record, const Row& row) {
  auto json = Json::object();
  for (const auto& field : record)
    if (!field.name.empty()) json.set(field.name, field.of(row).json);
  return json;
}

/// Prints each row as a line of JSON or, after `kind`, as values separated by tabs.
template <class Row>
void print_rows(Output& out, std::string_view kind, const Record<Row>& record,
                const std::vector<Row>& rows) {
  for (const auto& row : rows) {
    if (out.json()) {
      out.line("{}", record_json(record, row).text());
      continue;
    }
    std::vector<std::string> values;
    for (const auto& field : record)
      if (field.column.plain) values.push_back(out.shown(field.of(row).text));
    out.line("{}{}", kind, fmt::join(values, "\t"));
  }
}

/// An array with an object for each row.
template <class Row>
Json rows_json(const Record<Row>& record, const std::vector<Row>& rows) {
  return Json::array(rows, [&](const Row& row) { return record_json(record, row); });
}

}  // namespace zksh
