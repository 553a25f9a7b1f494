// Server version: parses what servers report, and says what a server is too old for.
#pragma once

#include "client/zk_error.h"

#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>

namespace zksh {

class Client;

struct ServerVersion {
  int major = 0;  ///< 0: not known
  int minor = 0;

  friend bool operator<(const ServerVersion& one, const ServerVersion& other) {
    return std::tie(one.major, one.minor) < std::tie(other.major, other.minor);
  }
};
/// The version that a text begins with: "3.8.0", "3.10.0-SNAPSHOT"; not known if it does not.
ServerVersion server_version_in(std::string_view text);

/// Throws ZkError{unimplemented} if the connected server lacks the operations of ZooKeeper 3.5; the
/// message says so of `what` ("containers"), and names the server's version. Waits for the
/// connection; may block for another second.
void require_newer(Client& client, const std::string& path, std::string_view what,
                   const std::stop_token& stop);

/// The error of a persistent watch that was refused; if it is unimplemented, with what is required
/// and the server's version. May block for a second.
ZkError with_version_for_watches(Client& client, const ZkError& error);

/// The error of a node with a TTL that a server of 3.5 or later refused as unimplemented, with the
/// reason.
ZkError without_extended_types(const ZkError& error);

}  // namespace zksh
