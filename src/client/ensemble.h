// Ensemble: the text of an ensemble's configuration, as config and reconfig read it.
#pragma once

#include <string>
#include <string_view>

namespace zksh {

/// "100000000 127.0.0.1:2181,127.0.0.1:2182": the version, a blank, and the addresses for clients,
/// in the order of ConfigUtils.getClientConfigStr of 3.8.0. " " for an empty configuration.
std::string client_connect_string(std::string_view config);

/// The members that a dynamic configuration file names, as reconfig sends them. Throws ValueError
/// in zkCli's words when the file cannot be read, has something else in it, or names an ensemble
/// that cannot be.
std::string members_in_file(const std::string& file);

}  // namespace zksh
