// Security: the TLS and SASL settings of a session.
#pragma once

#include <string>

namespace zksh {

struct Password {
  std::string text{};  ///< a secret; empty: none was given
  std::string from{};  ///< what gives it, for messages
};

/// All files are PEM, or PKCS#12.
struct TlsSettings {
  bool on = false;
  std::string ca{};           ///< trusted authorities; empty: the system's
  Password ca_password{};     ///< of a PKCS#12 file
  std::string certificate{};  ///< the client's, with its chain; empty: none
  std::string key{};          ///< the certificate's key; empty: in the same file
  Password key_password{};    ///< of the key, or of a PKCS#12 file with both
  bool verify = true;         ///< check the server's certificate and the name in it
  bool verify_name = true;    ///< check the name; only with `verify`
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

}  // namespace zksh
