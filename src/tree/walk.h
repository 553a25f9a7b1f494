// Walk: visiting subtrees of any size, many requests in flight, in an order that is promised.
#pragma once

#include "client/client.h"
#include "client/work_limits.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <optional>
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
  bool stat_readable = true;  ///< false: the ACL hides the Stat (servers since 3.9); it is all 0
  bool readable = true;       ///< false: the ACL hides its children and its value
  bool acl_readable = true;   ///< false: the ACL hides itself
  Data data{};                ///< if asked for
  Acl acl{};                  ///< if asked for
  /// Sorted; never null. Empty for a node that is not readable, and at the last depth.
  std::shared_ptr<const NameList> children{};

  /// Whether it has, or may have, children that could not be listed.
  bool hides_children() const { return !readable && (!stat_readable || stat.num_children > 0); }
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

/// Siblings; the tops of a walk are a row without a parent.
struct WalkRow {
  std::string parent{};
  std::size_t depth = 0;
  std::shared_ptr<const NameList> names{};
  std::uint32_t next = 0;  ///< the first that nobody has asked for
  /// Rows sorted by it are in the order of the visits: for each step on the way from the top, the
  /// place among the siblings, as four bytes.
  std::string key{};

  bool exhausted() const { return next == names->size(); }
  std::string path(std::uint32_t place) const;
  std::string key_below(std::uint32_t place) const;
};

/// Something in the order of the visits: a node that was asked for, a row of which some are still
/// to be asked for, or the end of a node's subtree.
struct WalkStop {
  enum class Kind { Node, Row, Leave };
  Kind kind = Kind::Node;
  std::shared_ptr<WalkRow> row{};  ///< where a node comes from
  std::uint32_t place = 0;         ///< of a node: in its row

  TreeNode node{};  ///< of Node and of Leave
  bool complete = false;
  bool vanished = false;
  int code = code::ok;  ///< otherwise why it could not be read

  Pending<Listing> listing{};
  Pending<Stat> stat{};
  Pending<Node> value{};
  Pending<NodeAcl> acl{};
};
using WalkStops = std::list<WalkStop>;

/// Used on one thread.
class WalkReads {
 public:
  /// All three outlive it.
  WalkReads(Client& client, const WalkPlan& plan, const std::stop_token& stop);

  /// Whether one more node may be asked for; `first`: the one that everything waits for.
  bool has_room(bool first) const;
  /// Sends what a node needs first. Blocks to keep to the rate.
  void ask(WalkStops::iterator node);
  /// Blocks until about half of what is in flight has been answered. Throws Cancelled.
  void await_some();
  /// The next node that is complete, in the order of their first requests as long as none has to be
  /// asked again; nothing: wait. Sends what an answer makes necessary. Blocks for a lost
  /// connection.
  std::optional<WalkStops::iterator> take();
  /// A complete node's memory does not count any more.
  void visited(const WalkStop& node);

 private:
  struct Answers {
    std::optional<Outcome<Listing>> listing{};
    std::optional<Outcome<Stat>> stat{};
    std::optional<Outcome<Node>> value{};
    std::optional<Outcome<NodeAcl>> acl{};
  };

  bool take_answers(WalkStop& node, Answers& answers);
  bool lost(const Answers& answers) const;
  void understand(WalkStop& stop, Answers& answers);
  bool is_leaf(const WalkStop& node) const;
  void send(WalkStops::iterator node, bool listing, bool stat, bool value, bool acl);
  static std::size_t memory(const WalkStop& node);

  Client& client_;
  const WalkPlan& plan_;
  const std::stop_token& stop_;
  Pace pace_;
  std::deque<WalkStops::iterator> asked_;
  std::size_t in_flight_ = 0;    ///< requests
  std::size_t most_in_flight_;   ///< grows to the window: nobody knows yet how large values are
  std::size_t usual_value_ = 0;  ///< about the largest of late, in bytes
  std::size_t bytes_ahead_ = 0;  ///< of complete nodes that are not visited yet
  Clock::time_point last_answer_ = Clock::now();
};

}  // namespace zksh
