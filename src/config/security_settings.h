// Security settings: TLS and SASL, from options, configuration files and zkCli's properties file.
#pragma once

#include "client/security.h"
#include "config/configuration.h"

#include <map>
#include <string>
#include <string_view>

namespace zksh {

using Properties = std::map<std::string, std::string>;

/// Parses Java's properties format (java.util.Properties.load): `key=value`, `key: value` or `key
/// value`, # and ! comments, \ at the end of a line to continue it, and the escapes \t \n \r \f and
/// \u with four hexadecimal digits.
Properties parse_properties(std::string_view text);

/// Adds a line to the warnings for the user; none if the text is empty.
void add_warning(std::string& warning, const std::string& text);

/// The security of sessions, from the configuration and from a -client-configuration file (empty:
/// none), read as zkCli.sh reads it. `drop_in`: also from the flags for Java in the environment,
/// and from the login configuration (JAAS) that they name; otherwise, they earn a warning. The
/// values are put into the configuration unless options set them. Keys that only concern Java's
/// client are ignored. Reads the files that hold secrets. Appends to `warning`, a line for the
/// user. Throws UsageError for contradictory settings, files that cannot be read, what this build
/// does not support, and what only Java can do, saying how to do it with zksh. Blocks.
Security take_security(Configuration& configuration, const std::string& client_file, bool drop_in,
                       std::string& warning);

}  // namespace zksh
