// HostAddresses: the addresses that a server's name stands for.
#pragma once

#include "client/connect_string.h"

#include <string>
#include <sys/socket.h>
#include <vector>

namespace zksh {

/// What a socket is connected to.
struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
  int family() const { return bytes.ss_family; }
  /// Without the port: "10.0.0.1", "fe80::1%eth0"; empty when it has no such form.
  std::string host() const;
  bool operator==(const SocketAddress& other) const;
};

/// Which of a name's addresses are meant.
enum class Wanted {
  All,
  /// Those of the families that this machine has addresses of. As the C client looks names up
  /// (3.8.0: resolve_hosts), so that there are as many as it has.
  AsTheCClient,
};

struct HostAddresses {
  std::vector<SocketAddress> all{};  ///< in the order in which they are to be tried
  std::string problem{};             ///< for the user, when there are none
};

/// The addresses of a server, with its port; of one that is named by an address, that one. Blocks
/// while the name resolves. From any thread.
HostAddresses look_up(const ServerAddress& server, Wanted wanted = Wanted::All);

/// Whether it is an address, and not a name that has to be looked up. Does not block.
bool is_address(const std::string& host);

/// Whether two hosts are one machine: the same name, or names with an address in common. Blocks
/// while names resolve.
bool same_host(const std::string& one, const std::string& other);

}  // namespace zksh
