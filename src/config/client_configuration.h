// Client configuration: the properties file of zkCli's -client-configuration.
#pragma once

#include "config/configuration.h"
#include "config/security_settings.h"

#include <map>
#include <string>
#include <string_view>

namespace zksh {

using Properties = std::map<std::string, std::string>;

/// Parses Java's properties format (java.util.Properties.load): `key=value`, `key: value` or `key
/// value`, # and ! comments, \ at the end of a line to continue it, and the escapes \t \n \r \f
/// \uXXXX.
Properties parse_properties(std::string_view text);

/// The security of sessions, from the configuration and from a -client-configuration file (empty:
/// none), read as zkCli.sh reads it. The file's values are put into the configuration unless
/// options set them. Keys that only concern Java's client are ignored. Appends to `warning`, a line
/// for the user. Throws UsageError as parse_security, and for what only Java can do, saying how to
/// do it with zksh. Blocks.
Security take_security(Configuration& configuration, const std::string& client_file,
                       std::string& warning);

}  // namespace zksh
