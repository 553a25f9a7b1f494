// Color: whether a command's results are coloured, and how.
#pragma once

#include <string_view>

namespace zksh {

struct Context;

/// `choice` is the value of the setting `color`; auto: on a terminal that is not dumb, unless
/// NO_COLOR is set (no-color.org).
bool wants_color(std::string_view choice, bool on_terminal);
/// Of a command's results.
bool wants_color(const Context& cx);

/// Escape sequences of ECMA-48, in the eight colours that every theme knows.
namespace color {
inline constexpr std::string_view parent = "\x1b[1;34m";   ///< a node with children
inline constexpr std::string_view ephemeral = "\x1b[33m";  ///< a node that ends with its session
inline constexpr std::string_view aside = "\x1b[2m";       ///< what is said about a node
inline constexpr std::string_view end = "\x1b[0m";
}  // namespace color

}  // namespace zksh
