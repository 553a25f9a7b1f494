// ConnectString: parses the servers and the chroot that a user names; ServerNode: a node there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

struct ServerAddress {
  std::string host;  ///< a name, or an IPv4 or IPv6 address (without brackets)
  int port = 2181;

  /// "host:port"; an IPv6 address in brackets.
  std::string text() const;
};

struct ConnectString {
  std::vector<ServerAddress> servers;
  std::string chroot;  ///< empty, or an absolute path

  /// The form for zookeeper_init: all ports given, IPv6 without brackets, no chroot "/".
  std::string for_c_client() const;
};

/// The text without the zk:// of a ServerNode.
std::string_view without_mark(std::string_view text);

/// Parses "host[:port][,host[:port]…][/chroot]". The default port is 2181. As in zkCli.sh, blanks
/// around a server and empty elements are allowed. Throws ValueError naming what is wrong.
ConnectString parse_connect_string(std::string_view text);

struct ServerNode {
  std::string hosts;  ///< "HOST:PORT,…"
  std::string path;   ///< "/…"
};

/// Splits zk://HOST:PORT,…/path. The zk:// is optional before a host with a port.
std::optional<ServerNode> server_node(const std::string& word);

}  // namespace zksh
