// Security: how a session is secured: TLS and SASL.
#pragma once

#include <string>
#include <string_view>

namespace zksh {

/// Files are PEM.
struct TlsSettings {
  bool on = false;
  std::string ca{};            ///< authorities to trust; empty: the system's
  std::string certificate{};   ///< the client's, and its chain; empty: none
  std::string key{};           ///< of that certificate; empty: in the same file
  std::string key_password{};  ///< a secret
  bool verify = true;          ///< the server's certificate and the name in it
  bool verify_name = true;     ///< with `verify`
};

struct SaslSettings {
  std::string mechanism{};  ///< empty: no SASL
  std::string user{};
  std::string password{};  ///< a secret
};

struct Security {
  TlsSettings tls{};
  SaslSettings sasl{};
  std::string warning{};  ///< a sentence for the user, or empty
};

/// Whether sessions can use TLS, and SASL, in this build; the session library knows.
bool has_tls();
bool has_sasl();
/// The UsageError of a build that lacks TLS or SASL: how to get one that has it.
[[noreturn]] void refuse_missing(std::string_view asked, std::string_view what);

}  // namespace zksh
