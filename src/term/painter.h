// Painter: draws a layout on the terminal, sending only what has changed.
#pragma once

#include "term/edit_layout.h"

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace zksh {

/// Owns the screen rows from the prompt down. Output is collected until flush(), so that the
/// terminal shows each step at once. Painting starts at the cursor, in column 0. On a dumb terminal
/// the line is one row that scrolls sideways, drawn only with CR and blanks.
class Painter {
 public:
  /// `wait` blocks until the terminal accepts output; false: drop what is pending.
  Painter(int fd, bool dumb, std::function<bool(int fd)> wait = {})
      : fd_(fd), dumb_(dumb), wait_(std::move(wait)) {}

  /// Sets the screen's size. Assumes that the terminal has rewrapped what is painted, as most do.
  void resize(ScreenSize screen);
  const ScreenSize& screen() const { return screen_; }

  /// Moves the cursor to column 0 of a new row, unless it is there already; a reversed % marks
  /// output that did not end with a newline.
  void find_fresh_row();
  /// The same if the cursor is in column 0, or behind keys that the terminal has echoed.
  void begin_row();
  void paint(const EditedLine& line);
  /// Leaves the screen as it is, which is not known any more, and paints below.
  void start_anew();
  /// Has the next paint() draw everything again.
  void forget();
  /// Erases what is painted; the cursor returns to where it began.
  void erase();
  /// Leaves what is painted, with the cursor in column 0 of the row below.
  void leave();
  /// Clears the screen, and forgets what was painted.
  void clear_screen();

  /// Sends bytes to the terminal unchanged.
  void send(std::string_view bytes) { pending_ += bytes; }
  /// Writes all pending output; blocks while the terminal is stopped. Ignores errors: a terminal
  /// that is gone is noticed on its input.
  void flush();

 private:
  void paint_rows(const Layout& layout);
  void paint_row(int row, const Row& before, const Row& wanted);
  void paint_single_row(const EditedLine& line);
  void open_row(const Layout& layout, int row);
  void put_cells(const Row& row, std::size_t first_cell);
  void put_style(const std::string& style);
  void move_to(int row, int column);

  int fd_;
  bool dumb_;
  std::function<bool(int fd)> wait_;
  ScreenSize screen_;
  std::string pending_;
  std::vector<Row> painted_;  ///< rows below these are free
  int row_ = 0;               ///< where the cursor is
  int column_ = 0;            ///< screen_.columns: after the last column
  std::string style_;
  std::string single_row_;  ///< on a dumb terminal: what is painted, if the cursor is at its end
  int single_row_columns_ = 0;
};

}  // namespace zksh
