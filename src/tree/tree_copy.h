// TreeCopy: copies a subtree on the same servers.
#pragma once

#include "client/work_limits.h"
#include "command/command.h"
#include "tree/live_tree.h"
#include "tree/tree_apply.h"

#include <cstddef>
#include <functional>
#include <string>

namespace zksh {

struct CopyPlan {
  std::string source{};  ///< absolute paths; the target is not within the source
  std::string target{};
  WorkLimits limits{};
  bool parents_made = false;             ///< see TreeApply::Plan
  SequenceCounters* counters = nullptr;  ///< likewise
  /// Called for each node before it is copied.
  std::function<void(const FoundNode& node)> copied = [](const FoundNode&) {};
  /// Called for each ephemeral below the source; these are not copied.
  std::function<void(const FoundNode& node)> left_out{};
  /// Returns the report if the copy ends early: `done` says what was copied, and `unknown` what may
  /// have been.
  std::function<std::string(const std::string& done, const std::string& unknown)> incomplete{};
};

/// Throws ZkError or Error unless all of a node could be read: its data, its children, and its ACL
/// with all hashes. `path` is the node's.
void require_whole(const FoundNode& node, const std::string& path);

/// Copies values, ACLs and kinds of nodes, as dump and apply do, but not quotas, and shows the
/// progress. Returns the number of nodes created. Blocks; throws what TreeApply::run throws.
std::size_t copy_tree(Context& cx, const CopyPlan& plan);

}  // namespace zksh
