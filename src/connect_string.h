// ConnectString: the servers and the chroot that a user names, checked and put in the C client's
// form.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

struct ServerAddress {
  std::string host;  ///< a name, an IPv4 or IPv6 address (without brackets)
  int port = 2181;

  /// "host:port", an IPv6 address in brackets.
  std::string text() const;
};

struct ConnectString {
  std::vector<ServerAddress> servers;
  std::string chroot;  ///< empty, or an absolute path

  /// The form that zookeeper_init takes: every port given, IPv6 without brackets, no chroot "/".
  std::string for_c_client() const;
};

/// Parses "host[:port][,host[:port]…][/chroot]"; the port is 2181 when left out, as in zkCli.sh.
/// Throws ValueError naming what is wrong.
ConnectString parse_connect_string(std::string_view text);

/// Whether two hosts are one machine: the same name, or names with an address in common. Blocks
/// while names resolve.
bool same_host(const std::string& one, const std::string& other);

/// Tries each server once, all at the same time, for at most a second, and says why it cannot be
/// used: "127.0.0.1:2181: connection refused". Where `known` says more, by ServerAddress::text(),
/// that stands for a server that accepts connections. Blocks; name look-ups may take longer.
std::string why_unreachable(const ConnectString& servers,
                            const std::map<std::string, std::string>& known = {});

}  // namespace zksh
