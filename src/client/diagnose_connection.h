// diagnose_connection: tells the user why servers cannot be connected to, or that the chroot is
// missing.
#pragma once

#include "client/connect_string.h"
#include "client/zk_error.h"

#include <map>
#include <stop_token>
#include <string>

namespace zksh {

class Client;

/// Tries all addresses of all servers at once, for at most half a second, and says why they cannot
/// be used: "127.0.0.1:2181: Connection refused". Servers with the same problem are listed
/// together. `known` maps ServerAddress::text() to a problem that is reported for a server that
/// does accept the connection. Blocks; name look-ups may take longer.
std::string diagnose_connection(const ConnectString& servers,
                                const std::map<std::string, std::string>& known = {});

/// Why none of the servers can be connected to, in the same form; empty if one of them may still
/// answer. Blocks for at most half a second; name look-ups may take longer.
std::string refusal_by_all(const ConnectString& servers);

/// Used on one thread, for the errors of one sequence of commands.
class MissingChroot {
 public:
  /// Returns the error; if it is NoNode because the chroot of the connect string does not exist,
  /// adds that and how to create it. Asks the server until the chroot has been found once. Blocks;
  /// throws Cancelled.
  ZkError explained(Client& client, const ZkError& error, const std::stop_token& stop);

 private:
  std::string present_;  ///< the connect string whose chroot was found
};

}  // namespace zksh
