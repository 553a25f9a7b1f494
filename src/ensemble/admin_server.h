// AdminServer: asks ZooKeeper's HTTP servers, with GET, for JSON.
#pragma once

#include "client/connect_string.h"
#include "client/four_letter_word.h"
#include "client/tls.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// The addresses of the servers' AdminServers: HTTP (ZooKeeper 3.5 and later); over TLS if zksh
/// uses that (3.6 and later), unless the user says otherwise.
class AdminServers {
 public:
  /// Port 8080 of each server's host.
  AdminServers() = default;
  /// `text` is a port of each server's host; "HOST:PORT,…", one for each server of the connect
  /// string, in the same order; "off", to ask none; or empty, for port 8080. "http://" before it:
  /// without TLS. Throws ValueError.
  AdminServers(std::string_view text, const std::string& connect_string);

  /// nullopt: not to be asked.
  std::optional<ServerAddress> of(const ServerAddress& server) const;
  /// Whether the user has not specified them.
  bool guessed() const { return guessed_; }
  /// Null: they are asked without TLS.
  Tls* tls() const { return plain_ ? nullptr : zksh::tls(); }

 private:
  std::optional<int> port_ = 8080;
  bool guessed_ = true;
  bool plain_ = false;
  std::map<std::string, ServerAddress> named_;  ///< by ServerAddress::text()
};

/// A command of a server's AdminServer, such as "system_properties".
struct AdminRequest {
  ServerAddress server;  ///< for clients
  std::string command;
};
struct AdminReply {
  std::string server{};   ///< the AdminServer's address; empty: none was asked
  std::string body{};     ///< untrusted; empty if there is a problem
  std::string problem{};  ///< for the user: "zk1:8080: Connection refused"
};
/// As inquire. If their addresses are guessed, AdminServers must accept the connection within a
/// second.
std::vector<AdminReply> ask_admin_servers(const std::vector<AdminRequest>& requests,
                                          const AdminServers& admin_servers, AskLimits limits);
/// The values in a body outside of objects and lists; empty if it is not that of an AdminServer, or
/// holds an error.
std::map<std::string, std::string> admin_fields(std::string_view body);

/// The body of a web server's untrusted answer to a GET, whose status is 200. Otherwise empty, and
/// `flaw` says why, for the user: "it answers HTTP 404".
std::string http_body(std::string answer, std::string& flaw);

}  // namespace zksh
