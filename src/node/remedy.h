// Remedy: says at the prompt what an error of a node means, and what to do about it.
#pragma once

#include "client/nodes.h"

#include <stop_token>
#include <string_view>
#include <vector>

namespace zksh {

class Client;

/// The permissions that an ACL certainly gives a session with these identities. Of schemes that
/// only the servers can compare (sasl, x509), any identity counts.
int perms_given(const std::vector<Identity>& identities, const Acl& acl);

/// The error; if a permission is missing, names the right, the node that must give it, who has it
/// there, and `addauth`; if a version does not match, says what it is now; if `set` finds no node,
/// or `delete` one with children, names the command for that. Adds nothing if the message already
/// says more than zkCli's. `command`: what the user ran, which tells the right. Reads a node, or up
/// to two ACLs. Blocks; throws Cancelled.
ZkError with_remedy(Client& client, const ZkError& error, std::string_view command,
                    const std::stop_token& stop);

}  // namespace zksh
