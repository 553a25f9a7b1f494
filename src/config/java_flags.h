// Java flags: what the environment of zkCli.sh asks Java's client for.
#pragma once

#include "config/security_settings.h"

#include <optional>
#include <string>

namespace zksh {

/// The system properties, -DKEY=VALUE, of the variables that zkCli.sh and Kafka's scripts pass to
/// Java: CLIENT_JVMFLAGS, JVMFLAGS, SERVER_JVMFLAGS, KAFKA_OPTS; later ones count.
struct JavaFlags {
  Properties properties{};
  std::string variable{};  ///< the one that asks for TLS or authentication; empty if none does
  std::string asks{};      ///< the property with which it does
};
JavaFlags java_flags();

/// What a section of a login configuration (JAAS) says.
struct JavaLogin {
  std::string module{};  ///< the class name without its package
  Properties options{};
};
/// Parses the configuration of javax.security.auth.login, and returns the first module of this
/// section; nullopt if there is no such section.
std::optional<JavaLogin> parse_java_login(std::string_view text, std::string_view section);

}  // namespace zksh
