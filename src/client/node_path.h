// Node paths: validating, joining and taking them apart. Pure text, no server.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace zksh {

/// What is wrong with an absolute path, in the words of ZooKeeper's PathUtils.validatePath (3.8.0);
/// no value when it is well-formed. Positions are UTF-16 indices, as Java counts them.
std::optional<std::string> path_flaw(std::string_view path);

/// Throws UsageError with path_flaw's text. `sequential`: a final slash is allowed, since the
/// server appends a number.
void check_path(std::string_view path, bool sequential = false);

/// The absolute form of a path that begins at the node `base`, without its `.` and `..`; those
/// above the root stay there. Nothing else is mended: an empty name between two slashes and a slash
/// at the end are kept, and an empty path stays empty, for path_flaw to name.
/// "/a" + "../b" → "/b", "/a" + "/c/./d/" → "/c/d/".
std::string absolute_path(std::string_view base, std::string_view path);

/// "/a" + "b" → "/a/b", "/" + "b" → "/b".
std::string join_path(std::string_view parent, std::string_view child);
/// "/a/b" → "/a", "/a" → "/", "/" → "/".
std::string_view parent_path(std::string_view path);
/// "/a/b" → "b", "/" → "".
std::string_view base_name(std::string_view path);

}  // namespace zksh
