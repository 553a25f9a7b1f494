// Painter: draws a layout on the terminal, sending only what has changed.
#include "term/painter.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <poll.h>
#include <unistd.h>

namespace zksh {
namespace {

constexpr std::string_view erase_to_end_of_row = "\033[K";
constexpr std::string_view erase_below = "\033[J";

}  // namespace

void Painter::flush() {
  // A ready terminal accepts at least this much without blocking.
  constexpr std::size_t safe_size = 512;
  std::string_view rest = pending_;
  while (!rest.empty()) {
    if (wait_ && !wait_(fd_)) break;
    const ssize_t written = write(fd_, rest.data(), std::min(rest.size(), safe_size));
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {  // another process made the shared description non-blocking
      pollfd ready{fd_, POLLOUT, 0};
      poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      break;
    }
  }
  pending_.clear();
}

void Painter::find_fresh_row() {
  if (dumb_) return;
  // Blanks up to the last column wrap only if the cursor was not in column 0.
  send("\033[7m%\033[m");
  pending_.append(static_cast<std::size_t>(screen_.columns - 1), ' ');
  send("\r");
  send(erase_to_end_of_row);
}

void Painter::begin_row() {
  send("\r");
  if (!dumb_) send(erase_to_end_of_row);
}

void Painter::forget() {
  if (!dumb_) erase();
  single_row_.clear();
}

void Painter::paint(const EditedLine& line) {
  if (dumb_)
    paint_single_row(line);
  else
    paint_rows(lay_out(line, screen_));
}

void Painter::paint_rows(const Layout& layout) {
  for (std::size_t i = 0; i < layout.rows.size(); ++i) {
    if (i >= painted_.size()) {
      if (i > 0) open_row(layout, static_cast<int>(i));
      painted_.emplace_back();
    }
    paint_row(static_cast<int>(i), painted_[i], layout.rows[i]);
  }
  if (painted_.size() > layout.rows.size()) {
    move_to(static_cast<int>(layout.rows.size()), 0);
    send(erase_below);
    // The erased rows still exist for cursor movement.
  }
  move_to(layout.cursor_row, layout.cursor_column);
  painted_ = layout.rows;
}

void Painter::paint_row(int row, const Row& before, const Row& wanted) {
  const auto [was, now] = std::ranges::mismatch(before.cells, wanted.cells);
  if (was == before.cells.end() && now == wanted.cells.end()) return;
  int column = 0;
  std::for_each(wanted.cells.begin(), now, [&](const Cell& cell) { column += cell.width; });
  move_to(row, column);
  put_cells(wanted, static_cast<std::size_t>(now - wanted.cells.begin()));
  // After the last column, the sequence would erase the last character.
  if (before.columns() > column_) send(erase_to_end_of_row);
}

/// Creates the row below the last painted one. A continuation row is entered by wrapping, so that
/// the terminal treats both as one line when it is resized or copied from.
void Painter::open_row(const Layout& layout, int row) {
  const Row& above = layout.rows[static_cast<std::size_t>(row - 1)];
  if (!above.wraps) {
    move_to(row - 1, 0);
    send("\r\n");
  } else {
    if (row_ != row - 1 || column_ != screen_.columns) {
      move_to(row - 1, screen_.columns - above.cells.back().width);
      put_cells(above, above.cells.size() - 1);
    }
    send(" \r");
  }
  row_ = row;
  column_ = 0;
}

void Painter::put_cells(const Row& row, std::size_t first_cell) {
  for (std::size_t i = first_cell; i < row.cells.size(); ++i) {
    put_style(row.cells[i].style);
    send(row.cells[i].text);
    column_ += row.cells[i].width;
  }
  put_style("");
}

void Painter::put_style(const std::string& style) {
  if (style == style_) return;
  send("\033[m");
  send(style);
  style_ = style;
}

void Painter::move_to(int row, int column) {
  if (row < row_) pending_ += fmt::format("\033[{}A", row_ - row);
  if (row > row_) pending_ += fmt::format("\033[{}B", row - row_);
  row_ = row;
  if (column == column_) return;
  // After the last column, terminals differ in where the cursor is, so start from the first.
  if (column == 0 || column_ >= screen_.columns) {
    send("\r");
    column_ = 0;
  }
  if (column > column_) pending_ += fmt::format("\033[{}C", column - column_);
  if (column < column_) pending_ += fmt::format("\033[{}D", column_ - column);
  column_ = column;
}

void Painter::erase() {
  if (dumb_) {
    if (single_row_columns_ > 0) {
      send("\r");
      pending_.append(static_cast<std::size_t>(single_row_columns_), ' ');
      send("\r");
    }
    single_row_columns_ = 0;
    single_row_.clear();
    return;
  }
  if (painted_.empty()) return;
  move_to(0, 0);
  send(erase_to_end_of_row);
  // Erasing everything from the screen's first position makes tmux and others keep it in their
  // scrollback.
  if (painted_.size() > 1 && screen_.rows > 1) {
    send("\033[B");
    send(erase_below);
    send("\033[A");
  }
  painted_.clear();
}

void Painter::leave() {
  if (!dumb_ && !painted_.empty()) move_to(static_cast<int>(painted_.size()) - 1, 0);
  send("\r\n");
  painted_.clear();
  row_ = column_ = 0;
  single_row_columns_ = 0;
  single_row_.clear();
}

void Painter::start_anew() {
  painted_.clear();
  row_ = column_ = 0;
  single_row_.clear();
  single_row_columns_ = 0;
}

void Painter::clear_screen() {
  if (dumb_) return;
  send("\033[H\033[2J");
  painted_.clear();
  row_ = column_ = 0;
}

void Painter::resize(ScreenSize screen) {
  screen_ = screen;
  if (painted_.empty() || dumb_) return;
  // Wrapped rows are one line for the terminal, which rewraps it at its new width.
  int row = 0;
  int column = 0;
  int cursor_row = 0;
  for (std::size_t i = 0; i < painted_.size(); ++i) {
    int old_column = 0;
    for (const Cell& cell : painted_[i].cells) {
      if (column + cell.width > screen.columns) {
        ++row;
        column = 0;
      }
      if (static_cast<int>(i) == row_ && old_column <= column_) cursor_row = row;
      old_column += cell.width;
      column += cell.width;
    }
    if (static_cast<int>(i) == row_ && old_column <= column_)
      cursor_row = row + (column < screen.columns ? 0 : 1);
    if (painted_[i].wraps && i + 1 < painted_.size()) continue;
    ++row;
    column = 0;
  }
  row_ = std::min(cursor_row, screen.rows - 1);
  column_ = screen.columns;  // unknown: the next move starts with CR
  painted_.resize(static_cast<std::size_t>(row));
  erase();
}

void Painter::paint_single_row(const EditedLine& line) {
  // Laid out in one row, from which the part that fits is cut.
  const ScreenSize endless{std::numeric_limits<int>::max() / 2, 1};
  constexpr std::size_t window = 4096;
  EditedLine near = line;
  near.styles =
      {};  // a dumb terminal has no styles, and could not distinguish a hint from the line
  near.hint = {};
  near.one_row = true;
  if (near.cursor > window) {
    near.prompt = "<";
    near.text.remove_prefix(near.cursor - window);
    near.cursor = window;
  }
  near.text = near.text.substr(0, near.cursor + window);
  const Layout layout = lay_out(near, endless);
  const Row& row = layout.rows.back();
  const int room = std::max(screen_.columns - 1, 2);
  const int half = room / 2;
  const int first = std::max(0, (layout.cursor_column / half - 1) * half);

  std::string all;
  int at = 0;
  int shown = 0;
  int before_cursor = 0;
  for (const Cell& cell : row.cells) {
    if (at >= first && at + cell.width - first <= room) {
      all += cell.text;
      shown += cell.width;
      if (at < layout.cursor_column) before_cursor += cell.width;
    }
    at += cell.width;
  }
  // What was typed at the end is added: a program that reads the terminal finds each prompt once.
  if (!single_row_.empty() && all.starts_with(single_row_) && shown >= single_row_columns_)
    send(std::string_view(all).substr(single_row_.size()));
  else
    send("\r" + all);
  const int blanks = std::max(0, single_row_columns_ - shown);
  pending_.append(static_cast<std::size_t>(blanks), ' ');
  pending_.append(static_cast<std::size_t>(blanks + shown - before_cursor), '\b');
  single_row_ = before_cursor == shown ? all : "";
  single_row_columns_ = shown;
}

}  // namespace zksh
