// What a server is too old for, in words for the user.
#pragma once

#include "client/client.h"

#include <stop_token>
#include <string>
#include <string_view>

namespace zksh {

/// Nothing happens when the server of this connection knows the operations that came with ZooKeeper
/// 3.5. Else throws ZkError{unimplemented} that says so of `what` ("containers"), and the version
/// that the servers name. Waits for the connection; may block for a second more.
void require_newer(Client& client, const std::string& path, std::string_view what,
                   const std::stop_token& stop);

}  // namespace zksh
