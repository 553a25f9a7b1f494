// TreeCopy: copies a subtree on the same servers.
#pragma once

#include "client/client.h"
#include "client/rehearsal.h"
#include "client/work_limits.h"
#include "tree/live_tree.h"
#include "tree/tree_apply.h"

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>

namespace zksh {

struct CopyCounts {
  std::size_t made = 0;
  std::size_t unknown = 0;  ///< nodes that may or may not have been created
};

struct CopyPlan {
  std::string source{};  ///< absolute paths; the target is not within the source
  std::string target{};
  WorkLimits limits{};
  /// Called for each node before it is copied.
  std::function<void(const FoundNode& node)> copied{};
  /// Called for each ephemeral below the source; these are not copied.
  std::function<void(const FoundNode& node)> left_out{};
  /// Called for each write, as TreeApply::Plan::on_write.
  std::function<void(const WriteDescription& write)> on_write{};
  bool rehearse = false;      ///< send no writes
  bool parents_made = false;  ///< see TreeApply::Plan
};

/// Throws ZkError or Error unless all of a node could be read: its data, its children, and its ACL
/// with all hashes. `path` is the node's.
void require_whole(const FoundNode& node, const std::string& path);

/// Copies values, ACLs and kinds of nodes, as dump and apply do, but not quotas. Blocks; throws
/// what TreeApply::run throws. `counts` is what was copied, also if this throws.
void copy_tree(Client& client, const CopyPlan& plan, CopyCounts& counts,
               const std::stop_token& stop);

}  // namespace zksh
