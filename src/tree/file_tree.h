// FileTree: the values of a subtree as a directory of files, and such a directory as nodes.
#pragma once

#include "client/client.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// The file in a directory that holds the value of the node which the directory is.
inline constexpr std::string_view own_value_file = ".value";

/// The name of the file or directory of a node: its own, in which % is written as %25, and a dot at
/// the beginning as %2E.
std::string file_name_of(std::string_view node_name);
/// The name of the node that a file stands for: the way back. A % without two digits behind it, and
/// %2F and %00, which no node's name could hold, stay as they are.
std::string node_name_of(std::string_view file_name);

/// Makes the file of a value, or the directory of a node with children or without a value. `path`:
/// in which no such file is yet; the directory above it is there. Only this user may read them.
/// Throws Error.
void write_node_file(const std::string& path, const Data& data, bool has_children);

/// What is to be a node.
struct NodeFile {
  std::string path{};                 ///< of the node
  std::optional<std::string> file{};  ///< with its value; nothing: a directory without one
};
struct NodeFiles {
  std::vector<NodeFile> nodes{};  ///< parents before their children, siblings by name
  std::size_t hidden = 0;         ///< files whose names begin with a dot, which are no nodes
};

/// All nodes for which a file or a directory stands, when that itself is to be the node `top`.
/// Symbolic links to files are files. Throws ValueError for what cannot be read, is
/// neither a file nor a directory, cannot be a node's name, or stands for the same node as another.
NodeFiles files_below(const std::string& file, const std::string& top);

}  // namespace zksh
