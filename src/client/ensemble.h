// Ensemble: parses an ensemble's configuration for config and reconfig.
#pragma once

#include <string>
#include <string_view>

namespace zksh {

/// "100000000 127.0.0.1:2181,127.0.0.1:2182": the version, a blank, and the client addresses, in
/// the order of ConfigUtils.getClientConfigStr in 3.8.0. " " for an empty configuration.
std::string client_connect_string(std::string_view config);

/// The members listed in a dynamic configuration file, in the form that reconfig sends. Throws
/// ValueError, with zkCli's message, if the file cannot be read, contains anything else, or
/// describes an impossible ensemble.
std::string members_in_file(const std::string& file);

}  // namespace zksh
