// LivePicture: lines on a terminal that are drawn again in their place.
#pragma once

#include "command/output.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace zksh {

struct TerminalSize {
  std::size_t columns = 80;
  std::size_t lines = 24;
};
/// Of the terminal behind standard output; 80 by 24 when it does not tell.
TerminalSize terminal_size();
/// Whether the cursor can be moved about: not so with TERM=dumb, or none.
bool terminal_can_redraw();
/// Whether the environment's locale is one of UTF-8, so that arrows can be drawn.
bool terminal_shows_utf8();

/// Used on one thread.
class LivePicture {
 public:
  /// What is drawn goes through `out`, which must be a terminal.
  explicit LivePicture(Output& out) : out_(out) {}

  /// Draws over the picture before, or below it when something else was printed meanwhile, or the
  /// terminal has become too narrow for it. The lines must be no wider than the terminal, and
  /// fewer than its lines. The cursor is left below them.
  void draw(const std::vector<std::string>& lines);

 private:
  Output& out_;
  std::vector<std::size_t> widths_;  ///< of the lines on the screen
  std::uint64_t printed_ = 0;        ///< by everybody, when the last picture was drawn
};

}  // namespace zksh
