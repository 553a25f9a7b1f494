// diagnose_connection: tells the user why servers cannot be connected to.
#pragma once

#include "client/connect_string.h"

#include <map>
#include <string>

namespace zksh {

/// Tries all addresses of all servers at once, for at most half a second, and says why they cannot
/// be used: "127.0.0.1:2181: Connection refused". Servers with the same problem are listed
/// together. `known` maps ServerAddress::text() to a problem that is reported for a server that
/// does accept the connection. Blocks; name look-ups may take longer.
std::string diagnose_connection(const ConnectString& servers,
                                const std::map<std::string, std::string>& known = {});

/// Why none of the servers can be connected to, in the same form; empty if one of them may still
/// answer. Blocks for at most half a second; name look-ups may take longer.
std::string refusal_by_all(const ConnectString& servers);

}  // namespace zksh
