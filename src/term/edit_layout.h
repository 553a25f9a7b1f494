// EditLayout: lays out the prompt and the edited line on the screen, cell by cell.
#pragma once

#include "term/terminal.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// A character on the screen, with its combining marks.
struct Cell {
  std::string text;
  int width = 1;      ///< in columns: 1 or 2
  std::string style;  ///< the SGR sequences to draw it with; empty: plain

  bool operator==(const Cell&) const = default;
};

struct Row {
  std::vector<Cell> cells;
  bool wraps = false;             ///< full, and continued by the next row
  bool begins_in_prompt = false;  ///< it continues the prompt

  int columns() const;
};

struct Layout {
  std::vector<Row> rows;
  int cursor_row = 0;
  int cursor_column = 0;
};

/// A range of bytes that is drawn in one style.
struct StyledBytes {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string_view style;  ///< SGR sequences
};

/// A line being edited.
struct EditedLine {
  /// May contain SGR sequences and newlines. Other escape sequences are dropped.
  std::string_view prompt;
  std::string_view text;
  std::size_t cursor = 0;                 ///< a byte offset into `text`
  std::span<const StyledBytes> styles{};  ///< of the text; ordered, not overlapping
  /// Shown dim after the text if the cursor is at its end; cut so that it adds no row.
  std::string_view hint{};
  bool one_row = false;  ///< show newlines in the text as ^J, instead of starting a new row
};

/// Wraps the line into rows of the screen's width, at most as many as the screen has, keeping those
/// around the cursor. The cost is bounded by the screen's size, not the line's length. A newline in
/// the text starts a row marked with "> ", within quotes with the quote before it. Other control
/// characters are shown as ^X, invalid bytes as \xHH, invisible code points as \uHHHH. Requires a
/// UTF-8 locale (use_utf8_locale).
Layout lay_out(const EditedLine& line, ScreenSize screen);

}  // namespace zksh
