// ColumnTable: tables and lists laid out in columns that fit a width.
#pragma once

#include "base/mapped.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zksh {

/// A table. Its cells must already be escaped for a terminal.
class ColumnTable {
 public:
  struct Column {
    std::string title;
    bool right = false;  ///< right-aligned, for numbers
    std::vector<std::string> cells{};
  };

  ColumnTable() = default;
  /// Columns without cells, for add_row.
  explicit ColumnTable(std::vector<Column> columns);

  /// Returns the column's number. All columns must have the same number of cells.
  std::size_t add(Column column);
  /// Adds a column with the cell `text_of(item)` for each item.
  template <class Items, class TextOf>
  std::size_t add(const std::string& title, bool right, const Items& items, TextOf&& text_of) {
    return add(
        {.title = title, .right = right, .cells = mapped<std::string>(items, std::ref(text_of))});
  }
  /// Adds a cell to each column.
  void add_row(std::vector<std::string> cells);
  void replace_cells(std::size_t number, std::vector<std::string> cells);
  void drop(std::size_t number);
  enum class Cut {
    End,     ///< sentences
    Middle,  ///< paths and names, see cut_middle
  };
  /// Chooses a column whose cells are cut when the table is too wide, down to `least`. If there are
  /// several, the first one chosen is cut first. May be chosen again, to be cut further.
  void set_elastic(std::size_t number, Cut cut = Cut::End, std::size_t least = 0) {
    elastic_.push_back({.number = number, .cut = cut, .least = least});
  }

  /// The table's width when the first elastic column is `elastic` wide, or as wide as its cells
  /// need, whichever is less.
  std::size_t width(std::size_t elastic) const;
  /// The lines of the table, the titles first. Elastic columns are cut where they would be wider
  /// than `columns` (0: no limit); `mark` stands where a cell was cut.
  std::vector<std::string> lines(std::size_t columns, const std::string& mark) const;

 private:
  void measure(std::size_t number);

  std::vector<Column> columns_;
  std::vector<std::size_t> widths_;  ///< of each column, without cutting
  std::vector<bool> dropped_;
  struct Elastic {
    std::size_t number = 0;
    Cut cut = Cut::End;
    std::size_t least = 0;
  };
  std::vector<Elastic> elastic_;
};

/// How many of the texts fit side by side in `columns` columns; at least one.
std::size_t texts_in_a_row(const std::vector<std::string>& texts, std::size_t columns);
/// The first `count` texts, ordered down the columns, as `ls` does, in lines that end with a
/// newline. The texts must already be escaped for a terminal. `color` returns the escape sequence
/// that colours a text, or an empty one.
std::string in_text_columns(const std::vector<std::string>& texts, std::size_t count,
                            std::size_t columns,
                            const std::function<std::string_view(std::string_view)>& color = {});

}  // namespace zksh
