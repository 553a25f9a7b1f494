// Color: whether and how results are coloured.
#pragma once

#include <string_view>

namespace zksh {

struct Context;

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
