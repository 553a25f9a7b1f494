// Security: the TLS and SASL settings of a session.
#pragma once

#include <string>

namespace zksh {

/// All files are PEM.
struct TlsSettings {
  bool on = false;
  std::string ca{};            ///< trusted authorities; empty: the system's
  std::string certificate{};   ///< the client's, with its chain; empty: none
  std::string key{};           ///< the certificate's key; empty: in the same file
  std::string key_password{};  ///< a secret
  bool verify = true;          ///< check the server's certificate and the name in it
  bool verify_name = true;     ///< check the name; only with `verify`
};

struct SaslSettings {
  std::string mechanism{};  ///< empty: no SASL
  std::string user{};
  std::string password{};  ///< a secret
};

struct Security {
  TlsSettings tls{};
  SaslSettings sasl{};
};

/// Whether this build supports TLS, and SASL. Defined by the session library.
bool has_tls();
bool has_sasl();

}  // namespace zksh
