// Security settings: TLS and SASL as options and configuration files ask for them.
#pragma once

#include "client/security.h"
#include "config/configuration.h"

#include <span>
#include <string_view>

namespace zksh {

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

}  // namespace zksh
