// LiveTree and PastRecords: a subtree as ordered records, from the servers or as it was.
#pragma once

#include "client/work_limits.h"
#include "node/quota.h"
#include "tree/tree_record.h"
#include "txnlog/past_tree.h"

#include <cstddef>
#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace zksh {

class Client;

/// A node as it was read.
struct FoundNode {
  TreeRecord record{};
  Stat stat{};
  bool stat_readable = true;  ///< as TreeNode's
  bool readable = true;       ///< false if its ACL hides its data, its children or itself
};

/// Reads a subtree in the order of stands_before; / without /zookeeper, which is the servers' own.
/// Reads ahead of the caller by at most 4000 nodes and about 8 MiB, beyond what the walk itself
/// reads ahead. Used on one thread.
class LiveTree {
 public:
  struct Plan {
    std::string top{};            ///< an absolute path
    bool may_be_missing = false;  ///< a missing top is then an empty tree
    bool quotas = true;           ///< read them, too
    WorkLimits limits{};
  };

  /// `client` must outlive it.
  LiveTree(Client& client, Plan plan, std::stop_token stop);
  LiveTree(const LiveTree&) = delete;
  LiveTree& operator=(const LiveTree&) = delete;
  /// Stops reading.
  ~LiveTree();

  /// The next node, ephemerals included; nullopt at the end. Blocks. Throws what walk_tree throws,
  /// and Cancelled.
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

/// The limits by record path. There are few quotas, so all are kept in memory. Empty if they cannot
/// be seen. Blocks; throws ZkError, Cancelled.
std::map<std::string, QuotaLimits> limits_below(const QuotaPlace& place, const std::string& top,
                                                const std::stop_token& stop);

/// As LiveTree, for a replayed tree.
class PastRecords {
 public:
  /// `tree` must outlive it. Throws ZkError if there is no such node.
  PastRecords(const PastTree& tree, std::string top);

  /// The next node, ephemerals included; nullopt at the end. Throws Error if the files do not tell
  /// its ACL.
  std::optional<FoundNode> next();

 private:
  Data data_of(const std::string& path, const PastNode& node) const;

  const PastTree& tree_;
  std::string top_;
  std::vector<std::string_view> paths_;
  std::map<std::string, QuotaLimits> limits_{};
  std::size_t at_ = 0;
};

}  // namespace zksh
