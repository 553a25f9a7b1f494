// Subtree removal: finds the nodes of a subtree and removes them.
#pragma once

#include "client/work_limits.h"
#include "client/zk_error.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

namespace zksh {

class Client;

struct Removal {
  std::size_t removed = 0;
  std::size_t found = 0;             ///< nodes to be removed
  std::size_t unknown = 0;           ///< nodes that may or may not be removed
  std::optional<ZkError> failure{};  ///< the first
};

struct RemovalPlan {
  std::string top{};
  std::size_t batch = 1000;  ///< nodes per transaction
  bool salvages = false;     ///< a transaction that fails is sent again without what failed
  WorkLimits limits{};
  /// Called from time to time on the caller's thread.
  std::function<void(const Removal& removal)> progress{};
};

/// Finds the nodes of a subtree, then removes them in transactions of at most `batch` nodes (fewer
/// if their paths are long), several in flight; siblings in the reverse of the server's order.
/// Nodes that are already gone are skipped. Any other failure leaves the nodes of its transaction,
/// and no more are sent; what is in flight is still applied. If it `salvages`, the failure leaves
/// its node and therefore the node's ancestors, and the others are still removed.
///
/// Up to 10000 nodes, each is listed before anything is removed, and the deepest level is removed
/// first, as in ZooKeeper's ZKUtil.deleteRecursive. Beyond that, branches are removed one after the
/// other, and only the first of the siblings is listed: if it has no
/// children, the others are assumed to be leaves too, and are listed only if the server says that
/// they are not empty. If the names take more than some tens of megabytes, about a million nodes,
/// the tree is removed in parts, to bound the memory.
///
/// After a lost connection, waits for the next one (await_reconnection) and repeats what was not
/// answered. Blocks. Throws ZkError if a node cannot be listed or the connection does not come
/// back, Cancelled on a stop. `result` is what was done, also if this throws.
void remove_subtree(Client& client, const RemovalPlan& plan, Removal& result,
                    const std::stop_token& stop);

}  // namespace zksh
