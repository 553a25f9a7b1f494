// Parents: creates missing nodes, and the missing parents of a node.
#pragma once

#include "client/nodes.h"

#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace zksh {

class Client;
template <class T>
class ReadAhead;

/// The ancestors of `path` that do not exist, top down. Blocks; throws ZkError, Cancelled.
std::vector<std::string> missing_parents(Client& client, const std::string& path,
                                         const std::stop_token& stop);

/// Throws ZkError, naming the parent, if a node's parent does not exist, or, naming the node, if it
/// is the chroot that does not. Blocks; throws Cancelled.
void require_parent(Client& client, const std::string& path, const std::stop_token& stop);
/// The same after a read of the parent, which has been sent.
void require_parent(ReadAhead<Stat>& parent, const std::string& path, const std::stop_token& stop);

/// Creates a node; false if it exists. Blocks; throws ZkError, Cancelled.
bool create_if_missing(Client& client, const CreateOp& op, const std::stop_token& stop);

/// Creates the missing parents, with null values; somebody else may create one meanwhile.
/// Blocks; throws ZkError, Cancelled.
void create_parents(Client& client, const std::string& path, const std::stop_token& stop);

/// create_parents in two steps, so that what is to be created below them can be sent in between:
/// what was sent in the first.
using NewParents = std::vector<std::pair<std::string, Pending<Created>>>;
/// Sends the creation of those that are missing. Blocks while it finds them; throws ZkError,
/// Cancelled.
NewParents start_parents(Client& client, const std::string& path, const std::stop_token& stop);
/// Waits until they are created. Throws ZkError, Cancelled.
void await_parents(Client& client, const NewParents& sent, const std::stop_token& stop);

}  // namespace zksh
