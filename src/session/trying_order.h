// TryingOrder: the order in which the C client tries a session's servers.
#pragma once

#include "client/connect_string.h"

#include <map>
#include <string>

namespace zksh {

/// Maps addresses to the names in the connect string, both as HOST:PORT. Several names may have the
/// same address.
using AddressNames = std::multimap<std::string, std::string>;

/// A session's servers, looked up.
struct TryingOrder {
  AddressNames names{};  ///< empty if no name resolves
  /// For zookeeper_init: numeric addresses, and the chroot. The C client would look names up anew
  /// before each connection, on the thread that keeps the sessions alive.
  ///
  /// There is an odd number of addresses; if necessary, the first is repeated at the end. After a
  /// lost connection the C client (3.8.0: handle_error, then zoo_cycle_next_server) advances by two
  /// addresses per attempt, and with an even number would only ever try every other one.
  std::string hosts{};
  /// For zoo_set_servers: the same without the chroot, which the C client takes for a part of the
  /// last port.
  std::string addresses{};
};

/// Returns the servers in random order, so that clients spread over the ensemble. Blocks while
/// names resolve.
TryingOrder trying_order(const ConnectString& servers);

}  // namespace zksh
