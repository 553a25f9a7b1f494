// Security: TLS and SASL as options, configuration files and zkCli's properties ask for them.
#pragma once

#include "configuration.h"

#include <span>
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

/// Those keys of the configuration that are options with a value under the same name, too.
struct SecurityOption {
  std::string_view name;
  std::string_view value;  ///< what stands for it in the help
  std::string_view help;
};
std::span<const SecurityOption> security_options();

/// What is configured; files with secrets are read. Throws UsageError for what contradicts itself,
/// a file that cannot be read, or what this build cannot do. Blocks while files are read.
Security parse_security(const Configuration& configuration);

/// The UsageError of a build that lacks TLS or SASL: how to get one that has it.
[[noreturn]] void refuse_missing(std::string_view asked, std::string_view what);

}  // namespace zksh
