// Client configuration: the properties file of zkCli's -client-configuration.
#pragma once

#include "config/configuration.h"
#include "config/security_settings.h"

#include <map>
#include <string>
#include <string_view>

namespace zksh {

using Properties = std::map<std::string, std::string>;

/// Java's properties format (java.util.Properties.load): `key=value`, `key: value` or `key value`,
/// # and ! comments, a backslash at the end of a line continues it, \t \n \r \f \uXXXX escapes.
Properties parse_properties(std::string_view text);

/// How sessions are secured: as the configuration says, and a file of zkCli's, read as zkCli.sh
/// does (empty: none), whose values go into the configuration where no option says otherwise. Keys
/// that steer Java's client alone are let through. `warning`: a line for the user is added to it.
/// Throws UsageError as parse_security, and for what only Java can do, naming the way to do it
/// here. Blocks.
Security take_security(Configuration& configuration, const std::string& client_file,
                       std::string& warning);

}  // namespace zksh
