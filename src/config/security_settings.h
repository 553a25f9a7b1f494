// Security settings: TLS and SASL, from options and configuration files.
#pragma once

#include "client/security.h"
#include "config/configuration.h"

namespace zksh {

/// The configured security. Reads the files that hold secrets. Throws UsageError for contradictory
/// settings, files that cannot be read, and what this build does not support. Blocks.
Security parse_security(const Configuration& configuration);

}  // namespace zksh
