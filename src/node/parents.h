// Parents: creates missing nodes, and the missing parents of a node.
#pragma once

#include "client/client.h"

#include <stop_token>
#include <string>
#include <vector>

namespace zksh {

/// The ancestors of `path` that do not exist, top down. Blocks; throws ZkError, Cancelled.
std::vector<std::string> missing_parents(Client& client, const std::string& path,
                                         const std::stop_token& stop);

/// Throws ZkError, naming the parent, if a node's parent does not exist, or, naming the node, if it
/// is the chroot that does not. Blocks; throws Cancelled.
void require_parent(Client& client, const std::string& path, const std::stop_token& stop);

/// Creates a node; false if it exists. Blocks; throws ZkError, Cancelled.
bool create_if_missing(Client& client, const CreateOp& op, const std::stop_token& stop);

/// Creates them with null values; it does not matter if somebody else creates one meanwhile.
/// Blocks; throws ZkError, Cancelled.
void create_parents(Client& client, const std::string& path, const std::stop_token& stop);

}  // namespace zksh
