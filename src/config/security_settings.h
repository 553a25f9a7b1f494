// Security settings: TLS and SASL, from options and configuration files.
#pragma once

#include "client/security.h"
#include "config/configuration.h"

#include <span>
#include <string_view>

namespace zksh {

/// A configuration key that is also an option with a value, under the same name.
struct SecurityOption {
  std::string_view name;
  std::string_view value;  ///< the placeholder in the help
  std::string_view help;
};
std::span<const SecurityOption> security_options();

/// The configured security. Reads the files that hold secrets. Throws UsageError for contradictory
/// settings, files that cannot be read, and what this build does not support. Blocks.
Security parse_security(const Configuration& configuration);

}  // namespace zksh
