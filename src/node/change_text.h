// ChangeText: what happened to a node, for people, for pipes and for programs.
#pragma once

#include "base/json.h"
#include "client/node_change.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zksh {

/// "created", "changed", "deleted", "children", "present" or "gap".
std::string_view change_name(NodeChange::Type type);

/// One line, safe for a terminal: the local time of day, what happened, to which node, and details.
/// Of long values and lists the beginning is shown. `ascii`: no signs beyond ASCII.
std::string change_line(const NodeChange& change, bool ascii);

/// Fields separated by tabs, `none` where there is nothing to say: time (milliseconds since 1970),
/// type, path, zxid, version, ephemeral owner (0x…; 0x0 for none), whether it was missed (0 or 1),
/// old value, new value, children added, children removed (both separated by commas). In fields,
/// what is not printable, backslashes and, in names of children, commas are escaped; a null value
/// is \N, and a value that looks like `none` is \x2d.
std::string plain_change(const NodeChange& change);

/// The schema is in the help of `watch`.
Json change_json(const NodeChange& change);

/// For a program that is run for the change: ZKSH_EVENT_TYPE and its like; see the help of `watch`.
std::vector<std::pair<std::string, std::string>> change_environment(const NodeChange& change);

/// The kernel takes 128 KiB for one variable with its name, and all of them have to find room.
inline constexpr std::size_t longest_in_environment = 64U << 10U;

}  // namespace zksh
