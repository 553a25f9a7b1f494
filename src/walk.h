// Walk: listing subtrees with many requests in flight.
#pragma once

#include "client.h"

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace zksh {

/// A node and all below it, breadth first, siblings in the server's order, as ZKUtil.listSubTreeBFS
/// of ZooKeeper gives them. A node that vanishes meanwhile is left out. Blocks. Throws ZkError for
/// the top node and for any node that cannot be listed.
std::vector<std::string> subtree_breadth_first(Client& client, const std::string& top,
                                               const std::stop_token& stop);

/// Calls `visit(path)` for a node and all below it in the order of zkCli's `ls -R`: a node's sorted
/// children, then each child's subtree. `watch` is left on every node's children, and on the top
/// node's data. Memory is bounded by the longest row of siblings at each depth. Blocks; throws as
/// subtree_breadth_first, after the nodes before the failure were visited.
void visit_subtree(Client& client, const std::string& top, const Watch& watch,
                   const std::function<void(const std::string&)>& visit,
                   const std::stop_token& stop);

/// What to do with the nodes of a walk that looks at every Stat.
struct StatVisitor {
  std::function<void(const std::string& path, const Stat&)> visit;
  /// Of a node with children that may not be listed; the walk goes on beside it.
  std::function<void(const ZkError&)> unlisted;
};

/// Visits the nodes and all below them, breadth first. Only nodes that have children are listed,
/// and so only these must be readable. A node that vanishes meanwhile, or is not there from the
/// beginning, is left out. Memory is bounded by the widest level. Blocks; throws ZkError,
/// Cancelled.
void visit_stats(Client& client, std::vector<std::string> tops, const StatVisitor& visitor,
                 const std::stop_token& stop);

/// A node of a walk that knows where it stands.
struct TreeNode {
  std::string path{};
  std::size_t depth = 0;  ///< the top node's is 0
  bool last = true;       ///< of its siblings, as they were listed
  Stat stat{};
  bool readable = true;  ///< false: its children may not be listed
};

/// Visits a node and all below it in the order of a drawing: a node, then the whole of its first
/// child by name, then that of the next. Deeper than `depth` nothing is visited. A node that
/// vanishes meanwhile is left out. Memory is bounded by the sum of the longest rows of siblings at
/// each depth. Blocks; throws ZkError for a missing top node and for lost connections, Cancelled.
void visit_in_drawing_order(Client& client, const std::string& top, std::size_t depth,
                            const std::function<void(const TreeNode&)>& visit,
                            const std::stop_token& stop);

}  // namespace zksh
