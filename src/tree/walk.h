// Walk: visiting subtrees of any size, many requests in flight, in an order that is promised.
#pragma once

#include "client/client.h"
#include "client/work_limits.h"

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace zksh {

inline constexpr auto any_depth = std::numeric_limits<std::size_t>::max();

/// A node on a walk.
struct TreeNode {
  std::string path{};
  std::size_t depth = 0;  ///< below the top, whose depth is 0
  bool last = true;       ///< of its siblings, by name
  Stat stat{};
  bool readable = true;      ///< false: the ACL hides its children and its value
  bool acl_readable = true;  ///< false: the ACL hides itself
  Data data{};               ///< if asked for
  Acl acl{};                 ///< if asked for
  /// Sorted; never null. Empty for a node that is not readable, and at the last depth.
  std::shared_ptr<const NameList> children{};
};

/// Where a walk goes, what it asks of each node, and who hears of it.
struct WalkPlan {
  /// One after the other. One that is missing, or vanishes, is an error, unless `may_be_missing`,
  /// or `missing` is there to hear of it; the others are visited then.
  std::vector<std::string> tops{};
  bool may_be_missing = false;
  std::function<void(const std::string& path)> missing{};
  std::size_t depth = any_depth;  ///< of the last nodes that are visited
  bool data = false;              ///< read the values
  bool acls = false;              ///< read the ACLs
  Watch watch = Watch::none();    ///< left on the lists of children; without `data` only
  WorkLimits limits{};
  /// Called right before the first request for a node is sent, ahead of the visits; parents before
  /// their children. What it sends, the servers do before they look at the node.
  std::function<void(const std::string& path)> ahead{};
  /// Called for a node before all below it. May block, may throw; may take what is in the node.
  std::function<void(TreeNode& node)> enter{};
  /// Called for a node after all below it, if not empty.
  std::function<void(const TreeNode& node)> leave{};
};

/// Visits each top and all below it: a node, then the whole of its first child in the byte order of
/// names, then that of the next. A node that vanishes meanwhile is left out.
///
/// Requests go out ahead of the visits, those for the nodes that come first in the order first. One
/// request tells a node's Stat and its children; with `data` or `acls` it is one for each of these,
/// and one more where there are children. Memory is bounded: by a few thousand nodes and 16 MiB of
/// values ahead of the visits, and the packed names of the rows of siblings on the way.
/// A lost connection is waited for, for as long as await_reconnection says, and what it left
/// without an answer is asked again, in a new session if need be.
/// Blocks. Throws ZkError for what cannot be read, other than by its ACL; Cancelled; and what the
/// visitors throw.
void walk_tree(Client& client, const WalkPlan& plan, const std::stop_token& stop);

/// Calls `visit(path)` for a node and all below it in the order of zkCli's `ls -R`: a node's sorted
/// children, then each child's subtree. `watch` is left on every node's children, and on the top
/// node's data. Blocks; throws as walk_tree, and for any node that may not be listed, after the
/// nodes before the failure were visited.
void visit_subtree(Client& client, const std::string& top, const Watch& watch,
                   const WorkLimits& limits, const std::function<void(const std::string&)>& visit,
                   const std::stop_token& stop);

/// What to do with the nodes of a walk that looks at every Stat.
struct StatVisitor {
  std::function<void(const std::string& path, const Stat&)> visit;
  /// Of a node with children that may not be listed; the walk goes on beside it.
  std::function<void(const ZkError&)> unlisted;
  WorkLimits limits{};
};

/// Visits the nodes and all below them, as walk_tree; nodes that are not there are left out. Only
/// nodes that have children must be readable.
void visit_stats(Client& client, std::vector<std::string> tops, const StatVisitor& visitor,
                 const std::stop_token& stop);

}  // namespace zksh
