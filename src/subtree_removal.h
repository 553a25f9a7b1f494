// SubtreeRemoval: removing a node and all below it, as fast as the server takes transactions.
#pragma once

#include "client.h"

#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>

namespace zksh {

struct Removal {
  std::size_t removed = 0;
  std::size_t found = 0;             ///< nodes that were to be removed
  std::optional<ZkError> failure{};  ///< the first; its transaction was not applied
};

/// Finds the nodes of a subtree, then removes them from the deepest up, in transactions of at most
/// `batch` nodes (fewer when their paths are long), several in flight; siblings go in the reverse
/// of the server's order. Up to 10 000 nodes, each is listed before anything is removed, as
/// ZooKeeper's own ZKUtil.deleteRecursive does. Beyond that a long row of siblings is judged by its
/// first: when that has no children the others are taken for leaves too, and are listed only when
/// the server says that one is not empty. A transaction with a node that is gone already is sent
/// again node by node; any other failure leaves its whole transaction undone, and the others go on.
/// Blocks. Throws ZkError for a node that cannot be listed, Cancelled on a stop.
Removal remove_subtree(Client& client, const std::string& top, std::size_t batch,
                       const std::stop_token& stop);

}  // namespace zksh
