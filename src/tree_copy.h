// TreeCopy: making a copy of a subtree on the same servers.
#pragma once

#include "client.h"
#include "live_tree.h"
#include "tree_apply.h"
#include "work_limits.h"

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>

namespace zksh {

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
  /// Hears, while copy_tree throws, how many nodes were made and of how many more that is not
  /// known; not when there are none.
  std::function<void(std::size_t made, std::size_t unknown)> incomplete{};
  bool rehearse = false;  ///< send no write
};

/// Throws ZkError or Error when a node may not be read as a whole: its data, its children, its ACL
/// with all hashes. `path` is the node's.
void require_whole(const FoundNode& node, const std::string& path);

/// Copies values, ACLs and kinds, as dump and apply do, without quotas. Blocks; throws what
/// TreeApply::run throws. What was copied by then stays.
void copy_tree(Client& client, const CopyPlan& plan, const std::stop_token& stop);

}  // namespace zksh
