// Security settings: TLS, SASL and identities, from options, files and the environment of zkCli.sh.
#pragma once

#include "client/nodes.h"
#include "client/security.h"
#include "config/configuration.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

using Properties = std::map<std::string, std::string>;

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

/// What a section of a login configuration (JAAS) says.
struct JavaLogin {
  std::string module{};  ///< the class name without its package
  Properties options{};
};
/// Parses the configuration of javax.security.auth.login, and returns the first module of this
/// section; nullopt if there is no such section.
std::optional<JavaLogin> parse_java_login(std::string_view text, std::string_view section);

struct AuthFile {
  std::vector<Credential> credentials;  ///< in the order of the file; at least one
  std::string warning;  ///< a sentence for the user if others than the owner can read or write the
                        ///< file; else empty
};

/// Parses lines of a scheme, blanks and a credential, which is the rest of the line without
/// surrounding blanks. Empty lines and lines that begin with # are skipped. `name` is for messages,
/// which never quote the text. Throws UsageError naming a line without a credential, or if there is
/// none at all.
std::vector<Credential> parse_auth_file(const std::string& text, const std::string& name);

/// Reads and parses a file. Throws UsageError as parse_auth_file, or if the file cannot be read.
AuthFile read_auth_file(const std::string& name);

}  // namespace zksh
