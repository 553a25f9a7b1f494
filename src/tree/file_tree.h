// FileTree: maps a subtree's values to a directory of files, and back.
#pragma once

#include "client/nodes.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// The file or directory name for a node: the node's name, with % written as %25 and a leading dot
/// as %2E.
std::string file_name_of(std::string_view node_name);
/// The node name for a file, the inverse of file_name_of. A % without two hexadecimal digits, %2F
/// and %00, which no node name can contain, are kept.
std::string node_name_of(std::string_view file_name);

/// Creates the file of a value, or a directory for a node with children or without a value. `path`
/// must not exist; its parent must. Only this user may read it. Throws Error.
void write_node_file(const std::string& path, const Data& data, bool has_children);

/// A file or directory that represents a node.
struct NodeFile {
  std::string path{};                 ///< of the node
  std::optional<std::string> file{};  ///< holds its value; nullopt: a directory without one
};
struct NodeFiles {
  std::vector<NodeFile> nodes{};  ///< parents before children, siblings by name
  std::size_t hidden = 0;         ///< number of skipped files whose names begin with a dot
};

/// The nodes represented by a file or directory, whose own node is `top`. Follows symbolic links to
/// files only. Throws ValueError for what cannot be read, is neither file nor directory, is not a
/// valid node name, or represents the same node as another.
NodeFiles files_below(const std::string& file, const std::string& top);

}  // namespace zksh
