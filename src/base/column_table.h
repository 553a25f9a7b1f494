// Columns: the rows of a table, or short texts side by side, in columns that fit a width.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace zksh {

/// Cells are text for a terminal, already escaped.
class ColumnTable {
 public:
  struct Column {
    std::string title;
    bool right = false;  ///< numbers stand at the right
    std::vector<std::string> cells{};
  };

  /// Returns the column's number; each row has one cell in each column.
  std::size_t add(Column column);
  void replace_cells(std::size_t number, std::vector<std::string> cells);
  void drop(std::size_t number);
  /// The column whose cells are cut when there is too little room.
  void set_elastic(std::size_t number) { elastic_ = number; }

  /// The columns that it takes when the elastic one has `elastic` columns, or what it needs if that
  /// is less.
  std::size_t width(std::size_t elastic) const;
  /// Titles and rows. `columns`: 0 is as many as needed.
  std::vector<std::string> lines(std::size_t columns, const std::string& mark) const;

 private:
  void measure(std::size_t number);

  std::vector<Column> columns_;
  std::vector<std::size_t> widths_;  ///< that hold every cell whole
  std::vector<bool> dropped_;
  std::size_t elastic_ = 0;
};

/// How many of them stand side by side in so many columns of a terminal; one at least.
std::size_t texts_in_a_row(const std::vector<std::string>& texts, std::size_t columns);
/// The first `count` of the texts, from top to bottom and then from left to right, in lines that
/// end with a newline. They must be escaped for a terminal.
std::string in_text_columns(const std::vector<std::string>& texts, std::size_t count,
                            std::size_t columns);

}  // namespace zksh
