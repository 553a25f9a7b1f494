// edit_layout: hints and styles on the rows of an edited line.
#include "term/edit_layout.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace zksh {
namespace {

std::string text_of(const Row& row) {
  std::string text;
  for (const auto& cell : row.cells) text += cell.text;
  return text;
}

Layout laid_out(std::string_view text, std::string_view hint, int columns) {
  use_utf8_locale();
  return lay_out({.prompt = "> ", .text = text, .cursor = text.size(), .hint = hint},
                 {.columns = columns, .rows = 5});
}

TEST(EditLayout, AHintStandsBehindTheCursor) {
  const auto layout = laid_out("get", " path", 20);
  ASSERT_EQ(layout.rows.size(), 1U);
  EXPECT_EQ(text_of(layout.rows[0]), "> get path");
  EXPECT_EQ(layout.cursor_column, 5);
  EXPECT_EQ(layout.rows[0].cells[4].style, "");
  EXPECT_NE(layout.rows[0].cells[5].style, "");
}

TEST(EditLayout, AHintIsCutBeforeTheLastColumn) {
  EXPECT_EQ(text_of(laid_out("get", " path", 11).rows[0]), "> get path");
  EXPECT_EQ(text_of(laid_out("get", " path", 10).rows[0]), "> get pa…");
  EXPECT_EQ(text_of(laid_out("get", " 漢字漢字", 11).rows[0]), "> get 漢…") << "two columns each";
  EXPECT_EQ(text_of(laid_out("get", " path", 6).rows[0]), "> get");
}

TEST(EditLayout, AHintAddsNoRow) {
  for (int columns = 2; columns < 30; ++columns) {
    const auto without = laid_out("get /app/config", "", columns);
    const auto with = laid_out("get /app/config", std::string(1000, 'x'), columns);
    EXPECT_EQ(with.rows.size(), without.rows.size()) << columns;
    EXPECT_EQ(with.cursor_row, without.cursor_row) << columns;
    EXPECT_EQ(with.cursor_column, without.cursor_column) << columns;
    EXPECT_FALSE(with.rows.back().wraps) << columns;
  }
}

TEST(EditLayout, AHintIsShownEscaped) {
  EXPECT_EQ(text_of(laid_out("", "a\033[2Jb", 20).rows[0]), "> a^[[2Jb");
}

TEST(EditLayout, ANewlineBeginsARowOfItsOwn) {
  const auto at_newline =
      lay_out({.prompt = "> ", .text = "ab\nc\n", .cursor = 2}, {.columns = 20, .rows = 5});
  ASSERT_EQ(at_newline.rows.size(), 3U);
  EXPECT_EQ(text_of(at_newline.rows[0]), "> ab");
  EXPECT_FALSE(at_newline.rows[0].wraps);
  EXPECT_EQ(text_of(at_newline.rows[1]), "> c");
  EXPECT_EQ(at_newline.cursor_row, 0);
  EXPECT_EQ(at_newline.cursor_column, 4);
  const auto behind =
      lay_out({.prompt = "> ", .text = "ab\nc\n", .cursor = 5}, {.columns = 20, .rows = 5});
  EXPECT_EQ(behind.cursor_row, 2);
  EXPECT_EQ(behind.cursor_column, 2);
  const auto one_row = lay_out({.prompt = "", .text = "a\nb", .cursor = 0, .one_row = true},
                               {.columns = 20, .rows = 5});
  ASSERT_EQ(one_row.rows.size(), 1U);
  EXPECT_EQ(text_of(one_row.rows[0]), "a^Jb");
}

TEST(EditLayout, ARowWithinQuotesBeginsWithTheQuote) {
  const auto rows = [](std::string_view text) {
    std::string shown;
    const auto layout =
        lay_out({.prompt = "", .text = text, .cursor = 0}, {.columns = 40, .rows = 9});
    for (const auto& row : layout.rows) shown += text_of(row) + '|';
    return shown;
  };
  EXPECT_EQ(rows("set /a 'x\ny"), "set /a 'x|'> y|");
  EXPECT_EQ(rows("set /a \"it's\n\nz\"\nls"), "set /a \"it's|\"> |\"> z\"|> ls|");
  EXPECT_EQ(rows("set /a $'x\n"), "set /a $'x|'> |");
  EXPECT_EQ(rows("get 'a' b\nit's\nls"), "get 'a' b|> it's|> ls|");
}

TEST(EditLayout, StylesGoByBytes) {
  use_utf8_locale();
  const std::array<StyledBytes, 2> styles{
      {{.begin = 0, .end = 2, .style = "\033[1m"}, {.begin = 4, .end = 7, .style = "\033[2m"}}};
  const auto layout = lay_out({.prompt = "", .text = "äbc漢d", .cursor = 0, .styles = styles},
                              {.columns = 20, .rows = 5});
  const auto& cells = layout.rows[0].cells;
  ASSERT_EQ(cells.size(), 5U);
  EXPECT_EQ(cells[0].style, "\033[1m");
  EXPECT_EQ(cells[1].style, "");
  EXPECT_EQ(cells[2].style, "");
  EXPECT_EQ(cells[3].style, "\033[2m");
  EXPECT_EQ(cells[4].style, "");
}

}  // namespace
}  // namespace zksh
