// Security: the TLS and SASL settings of a session.
#pragma once

#include <string>
#include <vector>

namespace zksh {

struct Password {
  std::string text{};  ///< a secret; empty: none was given
  std::string from{};  ///< what gives it, for messages
};

/// All files are PEM, or PKCS#12. If `ca` has revocation lists (PEM), they are checked.
struct TlsSettings {
  bool on = false;
  std::string ca{};           ///< trusted authorities; empty: the system's
  Password ca_password{};     ///< of a PKCS#12 file
  std::string certificate{};  ///< the client's, with its chain; empty: none
  std::string key{};          ///< the certificate's key; empty: in the same file
  Password key_password{};    ///< of the key, or of a PKCS#12 file with both
  bool verify = true;         ///< check the server's certificate and the name in it
  bool verify_name = true;    ///< check the name; only with `verify`
  bool must_revoke = false;   ///< `ca` must have revocation lists
  bool tls12 = true;          ///< TLS 1.2 may be used; this or tls13 is set
  bool tls13 = true;
  std::vector<std::string> ciphers{};  ///< the suites, by their standard names; empty: OpenSSL's
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
