// TlsConnection: the state of a TLS connection of the C client.
#pragma once

#include "base/monitor.h"
#include "client/connect_string.h"
#include "session/wire_link.h"

#include <openssl/ssl.h>
#include <optional>
#include <string>
#include <vector>

namespace zksh {

/// Owned by its SSL; used on that one's thread.
struct TlsConnection {
  std::vector<ServerAddress> servers;  ///< the servers that it may belong to
  std::string address;                 ///< numeric, with the port
  Clock::time_point begun = Clock::now();
  std::optional<unsigned> hang_ups_before{};  ///< count of hang_up_handshakes when it began
  bool spoke = false;                         ///< data were received
  WireLink link{};
};

/// The connection of an SSL; the first call creates it and sets the server's name for the
/// handshake. It looks names up, which may block.
TlsConnection& tls_connection(SSL* ssl);

/// Whether a host is an address in the form that certificates use.
bool is_certificate_address(const std::string& host);

/// Whether the server just closed the connection, by OpenSSL's error queue.
bool was_left();
/// What went wrong, from OpenSSL's error queue, which is left unchanged.
std::string tls_failure_text(SSL* ssl);
/// Records a failure; returns what OpenSSL's functions return for one. `lasting`: retrying would
/// not help.
int tls_failed(const TlsConnection& connection, const std::string& why, bool lasting = true);

}  // namespace zksh
