// HostAddresses: resolves servers' names to their addresses, and puts these in the order of trying.
#pragma once

#include "client/connect_string.h"

#include <map>
#include <string>
#include <sys/socket.h>
#include <vector>

namespace zksh {

/// A socket address with its port.
struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&bytes); }
  int family() const { return bytes.ss_family; }
  /// The host is numeric: "10.0.0.1", "fe80::1%eth0"; empty if it has no numeric form.
  ServerAddress server() const;
  bool operator==(const SocketAddress& other) const;
};

/// Which of a name's addresses to return.
enum class AddressFilter {
  All,
  /// Those of address families that this machine has addresses of, as the C client resolves names
  /// (3.8.0: resolve_hosts), so that the number of addresses is the same.
  LikeTheCClient,
};

struct HostAddresses {
  std::vector<SocketAddress> all{};  ///< in the order in which to try them
  std::string problem{};             ///< for the user, if there are none
};

/// Resolves a server's name; the addresses have its port. A numeric address stands for itself.
/// Blocks while the name resolves. From any thread.
HostAddresses look_up(const ServerAddress& server, AddressFilter filter = AddressFilter::All);

/// Whether `host` is a numeric address rather than a name. Does not block.
bool is_address(const std::string& host);

/// Whether two hosts are the same machine: equal names, or names with an address in common. Blocks
/// while names resolve.
bool same_host(const std::string& one, const std::string& other);

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
