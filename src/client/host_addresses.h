// HostAddresses: resolves a server's name to its addresses.
#pragma once

#include "client/connect_string.h"

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

}  // namespace zksh
