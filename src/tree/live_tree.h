// LiveTree: a subtree on the servers as records in order, and the quotas of its nodes.
#pragma once

#include "client/work_limits.h"
#include "tree/tree_record.h"

#include <cstddef>
#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace zksh {

struct TreeNode;

/// A node as it was found.
struct FoundNode {
  TreeRecord record{};
  Stat stat{};
  bool readable = true;  ///< false: its ACL hides its data, its children or itself
};

/// What dump, diff and apply make of a node on a walk: `top` is the walk's.
FoundNode found_node(TreeNode& node, const std::string& top,
                     const std::map<std::string, QuotaLimits>& limits);
/// Whether the servers keep their own things there: below /, the subtree /zookeeper is no part of
/// what users have.
bool is_servers_own(const std::string& path, const std::string& top);

/// Reads a subtree in the order of stands_before, a bounded part of it ahead of who asks: 4000
/// nodes and about 8 MiB, beyond what the walk itself reads ahead. Used on one thread.
class LiveTree {
 public:
  struct Plan {
    std::string top{};            ///< an absolute path
    bool may_be_missing = false;  ///< then there are no nodes
    WorkLimits limits{};
  };

  /// `client` outlives it.
  LiveTree(Client& client, Plan plan, std::stop_token stop);
  LiveTree(const LiveTree&) = delete;
  LiveTree& operator=(const LiveTree&) = delete;
  /// Stops the reading.
  ~LiveTree();

  /// The next one, ephemerals too; nullopt at the end. Blocks. Throws what walk_tree throws, and
  /// Cancelled.
  std::optional<FoundNode> next();

 private:
  using Batch = std::vector<FoundNode>;
  struct State {
    std::deque<Batch> batches{};
    std::exception_ptr failure{};
    bool ended = false;
  };
  void read(const std::stop_token& stop);
  void hand_over(Batch& batch, const std::stop_token& stop);

  Client& client_;
  Plan plan_;
  std::stop_token stop_;
  Guarded<State> state_;
  Batch batch_{};
  std::size_t at_ = 0;
  std::jthread thread_;
};

/// The limits by the record's path. Quotas are few: all are kept in memory. Empty where they cannot
/// be seen, as through a chroot. Blocks; throws ZkError, Cancelled.
std::map<std::string, QuotaLimits> limits_below(Client& client, const std::string& top,
                                                const std::stop_token& stop);

/// Makes the quota of the node at an absolute path so; no_limits: removes it. As setquota, without
/// a look at quotas above and below. Blocks; throws ZkError, Cancelled, and Error through a chroot,
/// where no quota counts.
void set_limits(Client& client, const std::string& path, const QuotaLimits& limits,
                const std::stop_token& stop);

}  // namespace zksh
