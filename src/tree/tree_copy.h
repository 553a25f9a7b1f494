// TreeCopy: making a copy of a subtree on the same servers.
#pragma once

#include "client/client.h"
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
  std::size_t unknown = 0;  ///< nodes of which nobody knows whether they were made
};

struct CopyPlan {
  std::string source{};  ///< absolute paths; the target is not within the source
  std::string target{};
  WorkLimits limits{};
  /// Hears of each node that is to be copied, before it is.
  std::function<void(const FoundNode& node)> copied{};
  /// Hears of each ephemeral, which is not.
  std::function<void(const FoundNode& node)> left_out{};
  /// Hears of each write, as TreeApply::Plan::told.
  std::function<void(const TreeApply::Change& change)> told{};
  bool rehearse = false;      ///< send no write
  bool parents_made = false;  ///< see TreeApply::Plan
};

/// Throws ZkError or Error when a node may not be read as a whole: its data, its children, its ACL
/// with all hashes. `path` is the node's.
void require_whole(const FoundNode& node, const std::string& path);

/// Copies values, ACLs and kinds, as dump and apply do, without quotas. Blocks; throws what
/// TreeApply::run throws. What was copied by then stays; `counts` says how much, also when it
/// throws.
void copy_tree(Client& client, const CopyPlan& plan, CopyCounts& counts,
               const std::stop_token& stop);

}  // namespace zksh
