// LockSearch: every lock below a path.
#pragma once

#include "client/client.h"
#include "lock/lock_view.h"

#include <cstddef>
#include <stop_token>
#include <string>
#include <vector>

namespace zksh {

struct LockSearch {
  std::vector<LockView> locks;        ///< by path; only of those who hold it are the data known
  std::vector<std::string> unlisted;  ///< nodes whose children may not be listed
};

/// Walks through a subtree. A node is a lock when it has an ephemeral child with a name that a
/// lock's recipe gives; a semaphore when such children are below its `locks` and `leases`. Memory
/// is bounded by the widest level and the number of contenders. Blocks; throws ZkError, Cancelled.
LockSearch find_locks(Client& client, const std::string& top, const std::stop_token& stop);

}  // namespace zksh
