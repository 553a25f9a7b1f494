// TryingOrder: the order in which the C client tries a session's servers.
#pragma once

#include "client/connect_string.h"

#include <map>
#include <string>

namespace zksh {

/// Maps addresses to the names in the connect string, both as HOST:PORT.
using AddressNames = std::map<std::string, std::string>;

/// Returns the servers for zookeeper_init in random order, so that clients spread over the
/// ensemble. Blocks while names resolve, and stores them in `names`.
///
/// The list has an odd number of addresses; if necessary, the first is repeated at the end. After a
/// lost connection the C client (3.8.0: handle_error, then zoo_cycle_next_server) advances by two
/// addresses per attempt, and with an even number would only ever try every other one. That can
/// still happen if a name's number of addresses changes later.
std::string trying_order(const ConnectString& servers, AddressNames& names);

}  // namespace zksh
