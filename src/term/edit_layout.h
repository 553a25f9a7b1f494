// Edit layout: where prompt and edited line stand on the screen, cell by cell.
#pragma once

#include "term/terminal.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// What stands in one place of the screen: a character with the marks that combine with it.
struct Cell {
  std::string text;
  int width = 1;      ///< in columns: 1 or 2
  std::string style;  ///< the SGR sequences that it is drawn with; empty: plain

  bool operator==(const Cell&) const = default;
};

struct Row {
  std::vector<Cell> cells;
  bool wraps = false;  ///< full, and the next row goes on where it ends

  int columns() const;
  bool operator==(const Row&) const = default;
};

struct Layout {
  std::vector<Row> rows;
  int cursor_row = 0;
  int cursor_column = 0;
};

/// Bytes of a text that are drawn in one style.
struct StyledBytes {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string_view style;  ///< SGR sequences

  bool operator==(const StyledBytes&) const = default;
};

/// A line that is being edited.
struct EditedLine {
  /// May hold SGR sequences, and newlines. Other escape sequences are left out.
  std::string_view prompt;
  std::string_view text;
  std::size_t cursor = 0;                 ///< a byte offset into `text`
  std::span<const StyledBytes> styles{};  ///< of the text; in order, without overlap
  /// Shown dim behind the text when the cursor is there too. It is cut so that no row is added.
  std::string_view hint{};
  bool one_row = false;  ///< newlines of the text are shown as ^J, and end no row
};

/// Wraps the line into rows of the screen's width, at most as many as the screen has, those around
/// the cursor first. The cost is bounded by the screen's size, not by the line's length. A newline
/// of the text begins a row of its own, marked with "> ". Other control characters are shown as ^X,
/// invalid bytes as \xHH, invisible code points as \uHHHH. The locale must be a UTF-8 one
/// (use_utf8_locale).
Layout lay_out(const EditedLine& line, ScreenSize screen);

}  // namespace zksh
