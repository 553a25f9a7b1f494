// TryingOrder: the servers of a session as the C client is to try them.
#pragma once

#include "client/connect_string.h"

#include <map>
#include <string>

namespace zksh {

/// The names of the servers in a connect string, HOST:PORT, by their addresses, in the same form.
using AddressNames = std::map<std::string, std::string>;

/// What zookeeper_init is given: the servers in a random order, so that the clients of an ensemble
/// spread over it. Blocks while names resolve.
///
/// The list has an odd number of addresses, the first a second time at the end if need be: after a
/// lost connection the C client (3.8.0: handle_error, then zoo_cycle_next_server) goes on by two
/// addresses at each attempt, and of an even number it would try every other one for ever. A name
/// that has another number of addresses later on brings that back.
///
/// The names that were looked up for this are put into `names`.
std::string trying_order(const ConnectString& servers, AddressNames& names);

}  // namespace zksh
