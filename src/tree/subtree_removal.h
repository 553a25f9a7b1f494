// SubtreeRemoval: removing a node and all below it, as fast as the server takes transactions.
#pragma once

#include "client/client.h"
#include "client/work_limits.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

namespace zksh {

struct Removal {
  std::size_t removed = 0;
  std::size_t found = 0;             ///< nodes that were to be removed
  std::size_t unknown = 0;           ///< nodes of which nobody knows whether they are removed
  std::optional<ZkError> failure{};  ///< the first
};

struct RemovalPlan {
  std::string top{};
  std::size_t batch = 1000;  ///< nodes in a transaction
  WorkLimits limits{};
  /// Called now and then with what is done so far, on the caller's thread.
  std::function<void(const Removal& so_far)> progress{};
};

/// Finds the nodes of a subtree, then removes them from the deepest up, in transactions of at most
/// `batch` nodes (fewer when their paths are long), several in flight; siblings go in the reverse
/// of the server's order. Nodes that are gone already are passed over; any other failure leaves its
/// node, and so the nodes above it, and the others go on.
///
/// Up to 10 000 nodes, each is listed before anything is removed, as ZooKeeper's own
/// ZKUtil.deleteRecursive does. Beyond that a row of siblings is judged by its first: when that has
/// no children the others are taken for leaves too, and are listed only when the server says that
/// one is not empty. A tree whose names take more than some tens of megabytes, which is about a
/// million nodes, is removed part by part, the memory of one part at a time.
///
/// A lost connection is waited for (await_reconnection); what it left open is asked and written
/// again. Blocks. Throws ZkError for a node that cannot be listed and for a connection that does
/// not come back, Cancelled on a stop. `result` is what was done, also when it throws.
void remove_subtree(Client& client, const RemovalPlan& plan, Removal& result,
                    const std::stop_token& stop);

}  // namespace zksh
