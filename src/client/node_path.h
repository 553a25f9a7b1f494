// Node paths: validates, joins and splits paths. Pure text, no server.
#pragma once

#include "base/error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zksh {

/// Why an absolute path is invalid, in the words of ZooKeeper's PathUtils.validatePath (3.8.0);
/// nullopt if it is valid. Positions are UTF-16 indices, as Java counts them.
std::optional<std::string> path_flaw(std::string_view path);

/// A path is invalid; the text is path_flaw's.
class PathError : public ValueError {
 public:
  using ValueError::ValueError;
};

/// Throws PathError if the path is invalid. `sequential`: a final slash is allowed, since the
/// server appends a number.
void check_path(std::string_view path, bool sequential = false);

/// Resolves a path against the node `base`, and removes `.` and `..`; a `..` above the root stays.
/// Nothing else is corrected: an empty name between slashes, a slash at the end and an empty path
/// are kept, for path_flaw to report. "/a" + "../b" → "/b", "/a" + "/c/./d/" → "/c/d/".
std::string absolute_path(std::string_view base, std::string_view path);

/// "/a" + "b" → "/a/b", "/" + "b" → "/b".
std::string join_path(std::string_view parent, std::string_view child);
/// The path of a node without the chroot: "/app" and "/a" → "/app/a".
std::string whole_path(const std::string& chroot, const std::string& path);
/// "/a/b" → "/a", "/a" → "/", "/" → "/".
std::string_view parent_path(std::string_view path);
/// "/a/b" → "b", "/" → "".
std::string_view base_name(std::string_view path);

/// The number that a server has appended to a sequential node's name: ten digits (%010d). nullopt
/// if there is none, or it is beyond the counter's end.
std::optional<std::int32_t> sequence_number(std::string_view name);

}  // namespace zksh
