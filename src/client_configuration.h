// Client configuration: the properties file of zkCli's -client-configuration.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace zksh {

using Properties = std::map<std::string, std::string>;

/// Java's properties format (java.util.Properties.load): `key=value`, `key: value` or `key value`,
/// # and ! comments, a backslash at the end of a line continues it, \t \n \r \f \uXXXX escapes.
Properties parse_properties(std::string_view text);

/// Reads a file as zkCli.sh does and refuses, with UsageError, what this build cannot do: it has
/// neither TLS nor SASL. Other keys steer Java's client alone and are let through. May block.
void check_client_configuration(const std::string& file);

}  // namespace zksh
