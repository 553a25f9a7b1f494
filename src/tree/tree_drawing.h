// TreeDrawing: draws a subtree as lines.
#pragma once

#include "tree/walk.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace zksh {

struct TreeStyle {
  bool ascii = false;  ///< use no box-drawing characters
  bool color = false;
  bool counts = false;    ///< show how many children each node has
  bool sizes = false;     ///< show the sizes of values
  std::size_t depth = 0;  ///< nodes at this depth show the number of their children, not these
};

/// Draws nodes in the order of walk_tree.
class TreeDrawing {
 public:
  explicit TreeDrawing(TreeStyle style) : style_(style) {}

  /// The node's line, safe for a terminal, without a newline.
  std::string line(const TreeNode& node);
  /// "12 nodes, 3 ephemeral", including the top node; with `sizes`, also the total bytes.
  std::string summary() const;

 private:
  std::string indent(const TreeNode& node);
  std::string remarks(const TreeNode& node) const;

  TreeStyle style_;
  std::vector<bool> last_;  ///< by depth: the ancestor is the last of its siblings
  std::size_t nodes_ = 0;
  std::size_t ephemerals_ = 0;
  std::int64_t bytes_ = 0;
};

}  // namespace zksh
