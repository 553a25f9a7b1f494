// Painter: brings a layout onto the terminal, sending only what differs from what stands there.
#pragma once

#include "term/edit_layout.h"

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace zksh {

/// Owns the rows of the screen from the prompt down. What is to be sent gathers until flush(), so
/// that the terminal shows a step whole. Painting begins where the cursor stands: in column 0.
/// On a dumb terminal the line is one row that scrolls sideways, drawn with CR and blanks alone.
class Painter {
 public:
  /// `wait` blocks until the terminal takes output; false: what is pending is dropped.
  Painter(int fd, bool dumb, std::function<bool(int fd)> wait = {})
      : fd_(fd), dumb_(dumb), wait_(std::move(wait)) {}

  /// The screen has (or was found to have) this size. What is painted is taken to have been
  /// wrapped anew by the terminal, as most do.
  void resize(ScreenSize screen);
  const ScreenSize& screen() const { return screen_; }

  /// Sends the cursor to column 0 of a fresh row, if it may stand elsewhere: after output that did
  /// not end with a newline, which a reversed % then marks.
  void find_fresh_row();
  void paint(const EditedLine& line);
  /// Removes what is painted; the cursor is where it began.
  void erase();
  /// Leaves what is painted as it is, with the cursor in column 0 of the row below it.
  void leave();
  /// Clears the screen; what was painted is forgotten.
  void clear_screen();

  /// Bytes for the terminal, as they are.
  void send(std::string_view bytes) { pending_ += bytes; }
  /// Writes all that is pending; blocks while the terminal is stopped. Errors are ignored: a
  /// terminal that is gone shows itself on its input.
  void flush();

 private:
  void paint_rows(const Layout& layout);
  void paint_row(int row, const Row& wanted, int columns_before);
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
  std::vector<Row> painted_;  ///< rows below those are free
  int row_ = 0;               ///< where the cursor is
  int column_ = 0;            ///< screen_.columns: it waits behind the last column
  std::string style_;
  int single_row_columns_ = 0;
};

}  // namespace zksh
