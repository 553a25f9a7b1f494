// Fuzzes the layout of the edited line: three bytes for the screen and the cursor, a line for the
// prompt, one for the hint, and the text.
#include "fuzz.h"
#include "term/edit_layout.h"

namespace zksh::fuzz {

void edit_layout_fuzz(std::string_view bytes) {
  static const bool utf8 = use_utf8_locale();
  static_cast<void>(utf8);
  Input input(bytes);
  const int columns = 1 + input.byte() % 100;
  const int rows = 1 + input.byte() % 30;
  const std::size_t part = input.byte();
  const auto prompt = input.line();
  const auto hint = input.line();
  const auto text = input.rest();
  const std::vector<StyledBytes> styles{
      {.begin = text.size() / 4, .end = text.size() / 2, .style = "\033[1m"}};
  const auto layout = lay_out({.prompt = prompt,
                               .text = text,
                               .cursor = text.size() * part / 255,
                               .styles = styles,
                               .hint = hint},
                              {.columns = columns, .rows = rows});
  require(!layout.rows.empty() && layout.rows.size() <= static_cast<std::size_t>(rows),
          "it fits the screen's height");
  require(
      layout.cursor_row >= 0 && static_cast<std::size_t>(layout.cursor_row) < layout.rows.size(),
      "the cursor is on a row");
  // No terminal is narrower than a wide character.
  const int width = std::max(columns, 2);
  require(layout.cursor_column >= 0 && layout.cursor_column < width, "the cursor is in the row");
  for (const auto& row : layout.rows) {
    require(row.columns() <= width, "it fits the screen's width");
    require(!row.wraps || row.columns() == width, "what wraps is full");
    for (const auto& cell : row.cells) require_harmless(cell.text);
  }
}

}  // namespace zksh::fuzz
