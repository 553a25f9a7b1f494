// ChangeText: formats the changes of nodes for people, pipes and programs.
#pragma once

#include "base/json.h"
#include "client/change_stream.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zksh {

/// "created", "changed", "deleted", "children", "present" or "gap".
std::string_view change_name(NodeChange::Type type);

/// One line, safe for a terminal: the local time of day, the kind of change, the node, and details.
/// Long values and lists are cut. `ascii`: use no characters beyond ASCII.
std::string change_line(const NodeChange& change, bool ascii);

/// A value for people: quoted, safe for a terminal, and cut if it is long; then with its length.
std::string value_excerpt(const Data& data, bool ascii);
/// A field of plain output: unprintable bytes and backslashes are escaped; the text "-", which
/// stands for an empty field, is \x2d. `in_list`: commas, too.
std::string plain_field(std::string_view bytes, bool in_list = false);

/// Tab-separated fields, "-" if empty: time (milliseconds since 1970), type, path, zxid, version,
/// ephemeral owner (0x…; 0x0 if none), whether it was missed (0 or 1), old value, new value,
/// children added, children removed (both comma-separated). Unprintable bytes, backslashes and, in
/// names of children, commas are escaped; a null value is \N, and the value "-" is \x2d.
std::string plain_change(const NodeChange& change);

/// The help of `watch` describes the fields.
Json change_json(const NodeChange& change);

/// The environment variables for a program that is run for the change: ZKSH_EVENT_TYPE and others,
/// described in the help of `watch`.
std::vector<std::pair<std::string, std::string>> change_environment(const NodeChange& change);

/// The kernel limits a variable to 128 KiB with its name, and the total size of all.
inline constexpr std::size_t longest_in_environment = 64U << 10U;

}  // namespace zksh
