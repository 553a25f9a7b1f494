// Screen: what the terminal shows: its size, colours, and pictures that are redrawn in place.
#pragma once

#include "command/output.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace zksh {

struct TerminalSize {
  std::size_t columns = 80;
  std::size_t lines = 24;

  bool operator==(const TerminalSize&) const = default;
};
/// The size of the terminal behind a descriptor; 80 by 24 if unknown.
TerminalSize terminal_size(int fd = STDOUT_FILENO);
/// Whether the cursor can be moved: not if TERM is dumb or unset.
bool terminal_can_redraw();
/// Whether the locale of the environment uses UTF-8, so that arrows can be drawn.
bool terminal_shows_utf8();

/// The width of the terminal that results go to; 0, no limit, if they go elsewhere.
std::size_t result_columns(const Output& out);
/// What stands where a text was cut for the terminal: "…".
std::string cut_mark();

/// The sequence that erases the unfinished line of this width before the cursor. If the terminal
/// has become narrower, it is assumed to have rewrapped the line, as most do.
std::string erase_line_of(std::size_t width);

/// Used on one thread.
class LivePicture {
 public:
  /// Draws through `out`, which must be a terminal.
  explicit LivePicture(Output& out) : out_(out) {}
  LivePicture(const LivePicture&) = delete;
  LivePicture& operator=(const LivePicture&) = delete;
  /// Erases the last line, if nothing was printed below it.
  ~LivePicture();
  /// Whether results are drawn in place: for a person, on a terminal that a foreground command has.
  static bool possible(const Output& out, bool background);

  /// Draws over the previous picture, or below it if something else was printed meanwhile, and says
  /// in a last line how to leave. The lines must fit the terminal's width, and be no more than
  /// room(). Leaves the cursor below them.
  void draw(std::vector<std::string> lines);
  static std::size_t room();

 private:
  void redraw(const std::vector<std::string>& lines);

  Output& out_;
  std::vector<std::string> lines_;   ///< of the picture
  std::vector<std::size_t> widths_;  ///< of the lines on the screen
  std::uint64_t printed_ = 0;        ///< bytes printed by anybody when the last picture was drawn
};

struct Context;

/// Runs `body`, which draws a LivePicture again and again. On the terminal, keys are not echoed
/// meanwhile, and q requests the stop of the Context, after which this returns 0. Ctrl-C and Ctrl-Z
/// work as usual. Throws what `body` throws.
int run_until_q(Context& cx, const std::function<int()>& body);

/// `choice` is the value of the setting `color`. auto means: on a terminal that is not dumb, unless
/// NO_COLOR is set (no-color.org).
bool use_color(std::string_view choice, bool on_terminal);
/// Whether the command's results are coloured.
bool use_color(const Context& cx);

/// ECMA-48 escape sequences, in the eight colours that every theme defines.
namespace color {
inline constexpr std::string_view parent = "\x1b[1;34m";   ///< a node with children
inline constexpr std::string_view ephemeral = "\x1b[33m";  ///< an ephemeral node
inline constexpr std::string_view aside = "\x1b[2m";       ///< details of a node
inline constexpr std::string_view end = "\x1b[0m";
/// For a name in a list, whose last character marks what it is: `/` or `*`.
std::string_view of_marked_name(std::string_view name);
}  // namespace color

}  // namespace zksh
