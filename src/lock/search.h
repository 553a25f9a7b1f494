// LockSearch: finds the locks in a subtree.
#pragma once

#include "client/client.h"
#include "lock/view.h"

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace zksh {

struct LockSearch {
  std::vector<LockView> locks;          ///< by path; data are read only for holders
  std::vector<std::string> unlistable;  ///< nodes whose children may not be listed
};

/// A node is a lock if it has an ephemeral child with a contender's name, and a semaphore if such
/// children are below its `locks` and `leases`. Memory is bounded by the widest level and the
/// number of contenders. `visited` is called for each node. Blocks; throws ZkError, Cancelled.
LockSearch search_locks(Client& client, const std::string& top,
                        const std::function<void()>& visited, const std::stop_token& stop);

}  // namespace zksh
