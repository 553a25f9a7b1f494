// Extent: the size of subtrees, and the question that is asked before work on them.
#pragma once

#include "client/work_limits.h"
#include "command/command.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace zksh {

/// The size of subtrees, including their tops.
struct Extent {
  std::size_t nodes = 0;
  std::size_t ephemerals = 0;
};
/// Counts, and shows the progress. Nodes below one that cannot be listed are not counted. Blocks;
/// throws ZkError, Cancelled.
Extent extent_of(Context& cx, const std::vector<std::string>& tops, const WorkLimits& limits);

/// "/app", or "3 subtrees".
std::string named_subtrees(const std::vector<std::string>& tops);

/// Counts the nodes and asks whether to do the work, more insistently for more nodes; for a single
/// node only in production, since a command for one node does not ask. `verb` and `done` as in
/// PlannedWork. Returns why nothing is done, or nullopt to go on. Blocks; throws ZkError,
/// Cancelled.
std::optional<std::string> subtree_refusal(Context& cx, const std::vector<std::string>& tops,
                                           const WorkLimits& limits, const std::string& verb,
                                           const std::string& done);

}  // namespace zksh
