// TlsConnection: what is known of one connection of the C client, and what became of it.
#pragma once

#include "base/monitor.h"
#include "client/connect_string.h"
#include "session/wire_link.h"

#include <openssl/ssl.h>
#include <optional>
#include <string>
#include <vector>

namespace zksh {

/// Belongs to its SSL; for the thread that uses that.
struct TlsConnection {
  std::vector<ServerAddress> servers;  ///< that it may be to
  std::string address;                 ///< numeric, with the port
  Clock::time_point begun = Clock::now();
  std::optional<unsigned> hang_ups_before{};  ///< of hang_up_handshakes, when it began
  bool spoke = false;                         ///< data came
  WireLink link{};
};

/// That of an SSL, made with the first call; then the server is told which name is meant, too. The
/// first call looks names up, which may block.
TlsConnection& tls_connection(SSL* ssl);

/// Whether a host is an address in the form in which certificates are asked for one.
bool is_certificate_address(const std::string& host);

/// Whether the server just hung up, by OpenSSL's record.
bool was_left();
/// What went wrong, from OpenSSL's record of it, which stays.
std::string tls_failure_text(SSL* ssl);
/// Takes note of a failure; what OpenSSL's functions return for one, for which it wants a reason.
int tls_failed(const TlsConnection& connection, const std::string& why, bool lasting = true);

}  // namespace zksh
