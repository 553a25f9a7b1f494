// Parents: the nodes above a node that is to be made.
#pragma once

#include "client/client.h"

#include <stop_token>
#include <string>
#include <vector>

namespace zksh {

/// The nodes above `path` that do not exist, from the top down. Blocks; throws ZkError, Cancelled.
std::vector<std::string> missing_parents(Client& client, const std::string& path,
                                         const std::stop_token& stop);

/// Creates them, with null values; one that somebody else creates meanwhile is as good. Blocks;
/// throws ZkError, Cancelled.
void create_parents(Client& client, const std::string& path, const std::stop_token& stop);

}  // namespace zksh
