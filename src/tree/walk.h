// Walk: visits subtrees of any size in a defined order, with many requests in flight.
#pragma once

#include "client/node_watches.h"
#include "client/nodes.h"
#include "client/watch.h"
#include "client/work_limits.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

class Client;

inline constexpr auto any_depth = std::numeric_limits<std::size_t>::max();
/// WalkPlan::depth as an option gives it. Throws ValueError if it is negative.
std::size_t depth_of(const std::optional<std::int64_t>& given, std::string_view option = "--depth");

/// A node on a walk.
struct TreeNode {
  std::string path{};
  std::size_t depth = 0;  ///< below the top, whose depth is 0
  bool last = true;       ///< the last of its siblings
  Stat stat{};            ///< if asked for
  /// False: the ACL hides the Stat (servers since 3.8.4 and 3.9.2), which is then all 0.
  bool stat_readable = true;
  bool readable = true;       ///< false: the ACL hides the children and the value
  bool acl_readable = true;   ///< false: the ACL hides itself
  Data data{};                ///< if asked for
  Acl acl{};                  ///< if asked for
  bool guessed_leaf = false;  ///< not read (WalkPlan::guess_leaves_from)
  /// Sorted, unless the walk `collects`; never null. Empty for a node that is not readable, and
  /// at the maximum depth.
  std::shared_ptr<const NameList> children{};

  /// Whether it has, or may have, children that could not be listed.
  bool hides_children() const { return !readable && (!stat_readable || stat.num_children > 0); }
};

/// What to walk, what to read of each node, and whom to call.
struct WalkPlan {
  /// Visited one after the other. A missing or vanished top is an error, unless `may_be_missing` or
  /// `missing` is set; then the others are still visited.
  std::vector<std::string> tops{};
  bool may_be_missing = false;
  std::function<void(const std::string& path)> missing{};
  std::size_t depth = any_depth;  ///< maximum depth of nodes to visit
  bool stats = true;              ///< read the Stats; else they come only where a list is refused
  bool data = false;              ///< read the values, and the Stats
  bool acls = false;              ///< read the ACLs
  /// The caller does nothing before the end: siblings come in the server's order, and near the
  /// server a few nodes wait until there are more to be read with them.
  bool collects = false;
  /// Once more names than this are known, only the first of siblings is read. If it has no
  /// children, the others are taken for leaves, too.
  std::size_t guess_leaves_from = std::numeric_limits<std::size_t>::max();
  Watch watch = Watch::none();  ///< set on the lists of children; only without `data`
  WorkLimits limits{};
  /// Called right before the first request for a node is sent, ahead of the visits, parents before
  /// children. Servers process the requests that this function sends before they read the node.
  std::function<void(const std::string& path)> ahead{};
  /// Called for a node before everything below it. May block and throw; may move from the node.
  std::function<void(TreeNode& node)> enter{};
  /// Called after everything below a node, with the node's depth; may be empty.
  std::function<void(std::size_t depth)> leave{};
};

/// Visits each top and everything below: a node, then its children's subtrees in byte order of
/// names. Nodes that vanish meanwhile are skipped.
///
/// Sends requests ahead of the visits, those for the next nodes in the order first, and each for as
/// many nodes as the server can read at once (Client::start_reads), as many as the link needs
/// (FlightWindow). At most 4 MiB of values are expected at a time, as estimated from those that
/// were read, since the server has its answers in memory. ACLs take a request each. Memory is
/// bounded by a few thousand nodes (if the servers are far away, as many as are on their way) and
/// 16 MiB of values ahead of the visits, plus the names in the rows of siblings on the path. If
/// these take more than 768 MiB, or the paths from the top down to a node more than 512 MiB
/// together, Error is thrown: the tree may be endless. After a lost connection, waits as long as
/// await_reconnection does, and repeats what was not answered, in a new session if necessary.
/// Blocks. Throws ZkError for what cannot be read for other reasons than its ACL; Cancelled; and
/// what the callbacks throw.
void walk_tree(Client& client, const WalkPlan& plan, const std::stop_token& stop);

/// Calls `visit(path)` for a node and all descendants in the order of zkCli's `ls -R`: a node's
/// sorted children, then each child's subtree. Sets `watch` on every node's children and on the top
/// node's data. Blocks; throws as walk_tree, and also if a node may not be listed, after visiting
/// the nodes before it.
void visit_subtree(Client& client, const std::string& top, const Watch& watch,
                   const WorkLimits& limits, const std::function<void(const std::string&)>& visit,
                   const std::stop_token& stop);

/// A Survey.
void survey_subtree(Client& client, const std::string& top, MissedChanges& changes,
                    const std::stop_token& stop);

}  // namespace zksh
