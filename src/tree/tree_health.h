// TreeHealth: finds nodes that are near a limit.
#pragma once

#include "client/work_limits.h"
#include "ensemble/deep_health.h"
#include "node/quota.h"

#include <cstdint>
#include <functional>
#include <stop_token>

namespace zksh {

class Client;

/// Visits all nodes that `client` can see. Finds lists of children and values that take at least
/// half of `largest_answer` bytes, and nodes whose counter of children nears the end of its 32
/// bits. `visited` is called for each node. Blocks; throws as walk_tree.
void check_nodes(Client& client, std::int64_t largest_answer, const WorkLimits& limits,
                 const std::function<void()>& visited, DeepHealth& deep,
                 const std::stop_token& stop);

/// Finds quotas that are used to nine tenths or more. `client` has no chroot. Blocks; throws as
/// walk_tree.
void check_quotas(Client& client, DeepHealth& deep, const std::stop_token& stop);

}  // namespace zksh
