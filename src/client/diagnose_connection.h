// Diagnose connection: what keeps servers from being connected to, for the user.
#pragma once

#include "client/connect_string.h"

#include <map>
#include <string>

namespace zksh {

/// Tries each server once, all at the same time, for at most half a second, and says why it cannot
/// be used: "127.0.0.1:2181: Connection refused"; those with the same problem together. Where
/// `known` says more, by ServerAddress::text(), that stands for a server that accepts connections.
/// Blocks; name look-ups may take longer.
std::string diagnose_connection(const ConnectString& servers,
                                const std::map<std::string, std::string>& known = {});

}  // namespace zksh
