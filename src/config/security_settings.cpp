// Security settings: TLS and SASL, from options and configuration files.
#include "config/security_settings.h"

#include "base/error.h"
#include "base/file.h"
#include "config/auth_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace zksh {
namespace {

/// The first of the keys that has a value; empty if none has.
std::string_view first_set(const Configuration& configuration,
                           std::initializer_list<std::string_view> keys) {
  const auto* const found = std::ranges::find_if(
      keys, [&](std::string_view key) { return !configuration.text(key).empty(); });
  return found == keys.end() ? std::string_view() : *found;
}

/// Reads the password in the first line of a file. No message may show it.
std::string read_password(const std::string& name, std::string& warning) {
  auto text = read_file(name);
  text.resize(std::min(text.size(), text.find_first_of("\r\n")));
  if (text.empty()) throw UsageError(fmt::format("{}: the first line has no password", name));
  if (text.find('\0') != std::string::npos)
    throw UsageError(fmt::format("{}: the password contains a NUL byte", name));
  if (auto said = warning_of_readers(name); !said.empty()) warning = std::move(said);
  return text;
}

TlsSettings parse_tls(const Configuration& configuration, std::string& warning) {
  TlsSettings tls;
  const auto implied = first_set(configuration, {"tls-ca", "tls-cert", "tls-key"});
  const bool unverified = !configuration.is_on("tls-verify");
  const bool said = !configuration.text("tls").empty();
  tls.on = said ? configuration.is_on("tls") : !implied.empty() || unverified;
  if (!tls.on) return {};
  if (!has_tls())
    refuse_missing(configuration.described(said             ? "tls"
                                           : unverified     ? "tls-verify"
                                           : implied.data() ? implied
                                                            : "tls"),
                   "TLS");
  tls.ca = with_home(configuration.text("tls-ca"));
  tls.certificate = with_home(configuration.text("tls-cert"));
  tls.key = with_home(configuration.text("tls-key"));
  tls.verify = !unverified;
  tls.verify_name = tls.verify && configuration.is_on("tls-verify-name");
  if (tls.certificate.empty() && !tls.key.empty())
    throw UsageError(configuration.described("tls-key") +
                     ": the certificate of the key is missing; give it with --tls-cert");
  if (tls.key.empty()) tls.key = tls.certificate;
  if (const auto& file = configuration.text("tls-key-password-file"); !file.empty())
    tls.key_password = read_password(with_home(file), warning);
  return tls;
}

SaslSettings parse_sasl(const Configuration& configuration, std::string& warning) {
  const auto asked =
      first_set(configuration, {"sasl-mechanism", "sasl-user", "sasl-password-file"});
  if (asked.empty()) return {};
  if (!has_sasl()) refuse_missing(configuration.described(asked), "SASL");
  SaslSettings sasl{.mechanism = configuration.text("sasl-mechanism"),
                    .user = configuration.text("sasl-user"),
                    .password = {}};
  if (sasl.mechanism.empty()) sasl.mechanism = "DIGEST-MD5";
  const auto& file = configuration.text("sasl-password-file");
  // With Kerberos, the ticket identifies the user.
  const bool named = sasl.mechanism != "GSSAPI";
  // The C client aborts at the last answer of some others, and some would reveal the password.
  if (named && sasl.mechanism != "DIGEST-MD5")
    throw UsageError(fmt::format("{}: ZooKeeper's servers support DIGEST-MD5 and GSSAPI, not {}",
                                 configuration.described("sasl-mechanism"), sasl.mechanism));
  if (named && sasl.user.empty())
    throw UsageError(fmt::format("SASL {} needs a user; use --sasl-user", sasl.mechanism));
  if (named && file.empty())
    throw UsageError(fmt::format(
        "SASL {} needs a password; use --sasl-password-file, whose first line is the password",
        sasl.mechanism));
  if (!file.empty()) sasl.password = read_password(with_home(file), warning);
  return sasl;
}

}  // namespace

Security parse_security(const Configuration& configuration) {
  Security security;
  security.tls = parse_tls(configuration, security.warning);
  security.sasl = parse_sasl(configuration, security.warning);
  if (security.tls.on && !security.sasl.mechanism.empty())
    throw UsageError(
        "TLS and SASL cannot be combined in ZooKeeper's C client; with TLS, authenticate with a "
        "client certificate (--tls-cert)");
  return security;
}

}  // namespace zksh
