// Security settings: TLS, SASL and identities, from options, files and the environment of zkCli.sh.
#include "config/security_settings.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/java.h"
#include "base/process_setup.h"
#include "base/text.h"
#include "base/words.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <sys/stat.h>
#include <utility>

namespace zksh {
namespace {

/// A sentence for the user if users other than the owner can read or write the file; else empty.
std::string warning_of_readers(const std::string& name) {
  struct stat info {};
  constexpr mode_t of_others = S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;
  if (stat(name.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || (info.st_mode & of_others) == 0)
    return {};
  return fmt::format(
      "warning: other users can read or write the credentials in {} (mode {:03o}); use chmod 600",
      name, info.st_mode & 0777U);
}

/// Empty if it is not set.
std::string value_of(const Properties& properties, const std::string& key) {
  const auto found = properties.find(key);
  return found == properties.end() ? std::string() : found->second;
}

/// The names that Kafka's zookeeper-shell.sh has for some properties.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kafka_names{
    {{"zookeeper.ssl.client.enable", "zookeeper.client.secure"},
     {"zookeeper.ssl.keystore.location", "zookeeper.ssl.keyStore.location"},
     {"zookeeper.ssl.keystore.password", "zookeeper.ssl.keyStore.password"},
     {"zookeeper.ssl.keystore.type", "zookeeper.ssl.keyStore.type"},
     {"zookeeper.ssl.truststore.location", "zookeeper.ssl.trustStore.location"},
     {"zookeeper.ssl.truststore.password", "zookeeper.ssl.trustStore.password"},
     {"zookeeper.ssl.truststore.type", "zookeeper.ssl.trustStore.type"},
     {"zookeeper.ssl.enabled.protocols", "zookeeper.ssl.enabledProtocols"},
     {"zookeeper.ssl.cipher.suites", "zookeeper.ssl.ciphersuites"},
     {"zookeeper.ssl.crl.enable", "zookeeper.ssl.crl"},
     {"zookeeper.ssl.ocsp.enable", "zookeeper.ssl.ocsp"},
     {"zookeeper.ssl.endpoint.identification.algorithm", "zookeeper.ssl.hostnameVerification"}}};

Properties with_zkcli_names(const Properties& properties) {
  Properties renamed;
  for (const auto& [key, value] : properties) {
    const auto* const known =
        std::ranges::find(kafka_names, key, [](const auto& entry) { return entry.first; });
    if (known == kafka_names.end())
      renamed[key] = value;
    else if (known == &kafka_names.back())
      renamed[std::string(known->second)] = value.empty() ? "false" : "true";
    else
      renamed[std::string(known->second)] = value;
  }
  return renamed;
}

/// What Java can be given but the configuration has no key for.
struct JavaSecurity {
  TlsSettings tls{};  ///< its passwords, versions, cipher suites and must_revoke
  Password sasl{};
};

[[noreturn]] void refuse(const std::string& origin, std::string_view key, std::string_view why) {
  throw UsageError(fmt::format("{} sets {}: {}", origin, key, why));
}

/// A switch, as Java reads it, in any case and with blanks around it; nullopt if it is not set.
/// Java takes any other word for false. Throws UsageError for these.
std::optional<bool> switch_of(const Properties& properties, const std::string& key,
                              const std::string& origin) {
  const auto found = properties.find(key);
  if (found == properties.end()) return std::nullopt;
  const auto text = trimmed(found->second);
  if (equal_ignoring_case(text, "true")) return true;
  if (equal_ignoring_case(text, "false")) return false;
  refuse(origin, key, "its value is neither true nor false");
}

/// Puts a value of Java's into the configuration.
void put(Configuration& configuration, std::string_view key, const std::string& text,
         const std::string& origin) {
  if (!text.empty() && !configuration[key].origin.starts_with("--"))
    configuration.set(key, text, origin);
}

/// Takes the identity from a login configuration (JAAS) that a flag for Java names. If that has no
/// section for the client, Java's client has no identity either.
void take_login(const Properties& properties, Configuration& configuration, JavaSecurity& java,
                const std::string& origin, std::string& warning) {
  auto file = value_of(properties, "java.security.auth.login.config");
  if (file.empty() || !switch_of(properties, "zookeeper.sasl.client", origin).value_or(true))
    return;
  for (const std::string_view prefix : {"=", "file:"})
    if (file.starts_with(prefix)) file.erase(0, prefix.size());
  const auto named = value_of(properties, "zookeeper.sasl.clientconfig");
  const auto login = parse_java_login(read_file(file), named.empty() ? "Client" : named);
  if (!login) return;
  const auto option = [&](const std::string& key) { return value_of(login->options, key); };
  if (login->module == "DigestLoginModule") {
    put(configuration, "sasl-user", option("username"), file);
    java.sasl = {.text = option("password"), .from = file};
    if (java.sasl.text.empty()) throw UsageError(file + ": DigestLoginModule has no password");
    if (switch_of(properties, "zookeeper.fips-mode", origin).value_or(false))
      refuse(origin, "zookeeper.fips-mode", "it forbids DIGEST-MD5, for which " + file + " asks");
    add_warning(warning, warning_of_readers(file));
  } else if (login->module == "Krb5LoginModule" && option("useTicketCache") == "true") {
    put(configuration, "sasl-mechanism", "GSSAPI", file);
  } else if (login->module == "Krb5LoginModule") {
    throw UsageError(fmt::format(
        "{}: zksh takes Kerberos tickets from the cache, not from a keytab; run `kinit -k -t {} "
        "{}`, and write useTicketCache=true there",
        file, option("keyTab"), option("principal")));
  } else {
    throw UsageError(
        fmt::format("{}: only Java can run {}; zksh has DigestLoginModule and Krb5LoginModule",
                    file, login->module));
  }
}

/// Java's client gets its user from a login configuration, which only flags for Java name.
void refuse_jaas(const Properties& properties, const std::string& origin,
                 const Configuration& configuration) {
  const auto asks = std::ranges::find_if(properties, [](const auto& entry) {
    return entry.first.starts_with("zookeeper.sasl.") &&
           !equal_ignoring_case(trimmed(entry.second), "false");
  });
  if (asks == properties.end()) return;
  if (configuration.text("sasl-user").empty() && configuration.text("sasl-mechanism").empty())
    throw UsageError(
        fmt::format("{} sets {}, but names no JAAS file that zksh could read; use "
                    "--sasl-user and --sasl-password-file",
                    origin, asks->first));
}

constexpr std::string_view tls_prefix = "zookeeper.ssl.";

/// Java's properties of TLS, without the prefix. Source: ClientX509Util and X509Util of ZooKeeper
/// 3.9. zksh-security(7) says what zksh does with each.
constexpr std::array<std::string_view, 21> tls_properties{"allowReverseDnsLookup",
                                                          "authProvider",
                                                          "ciphersuites",
                                                          "clientAuth",
                                                          "clientHostnameVerification",
                                                          "context.supplier.class",
                                                          "crl",
                                                          "enabledProtocols",
                                                          "handshakeDetectionTimeoutMillis",
                                                          "hostnameVerification",
                                                          "keyStore.location",
                                                          "keyStore.password",
                                                          "keyStore.passwordPath",
                                                          "keyStore.type",
                                                          "ocsp",
                                                          "protocol",
                                                          "sslProvider",
                                                          "trustStore.location",
                                                          "trustStore.password",
                                                          "trustStore.passwordPath",
                                                          "trustStore.type"};

/// Refuses unknown properties: they have no effect in Java, whatever their author believes.
void refuse_unknown(const Properties& properties, const std::string& origin) {
  for (const auto& [key, value] : properties) {
    if (!key.starts_with(tls_prefix) || key.starts_with("zookeeper.ssl.quorum.")) continue;
    const auto name = key.substr(tls_prefix.size());
    if (std::ranges::find(tls_properties, name) != tls_properties.end()) continue;
    const std::vector<std::string> known(tls_properties.begin(), tls_properties.end());
    const auto similar = suggestions(name, known);
    refuse(origin, key,
           similar.empty() ? "ZooKeeper's client has no such property"
                           : fmt::format("ZooKeeper's client has no such property; did you mean "
                                         "{}{}?",
                                         tls_prefix, similar.front()));
  }
}

/// The content of a store tells its type, except for Java's BCFKS, which OpenSSL does not know.
void refuse_type(const Properties& properties, const std::string& store,
                 const std::string& origin) {
  const auto key = fmt::format("{}{}.type", tls_prefix, store);
  const auto type = value_of(properties, key);
  if (type.empty()) return;
  for (const auto* const known : {"JKS", "PEM", "PKCS12"})
    if (equal_ignoring_case(type, known)) return;
  if (!equal_ignoring_case(type, "BCFKS")) refuse(origin, key, "it is JKS, PEM, PKCS12 or BCFKS");
  refuse(origin, key,
         fmt::format("only Java with Bouncy Castle's provider reads BCFKS; convert it once with\n"
                     "  keytool -importkeystore -srckeystore {} -srcstoretype BCFKS -providerclass "
                     "org.bouncycastle.jcajce.provider.BouncyCastleFipsProvider -providerpath "
                     "bc-fips.jar -destkeystore store.p12 -deststoretype PKCS12\n"
                     "and name store.p12 here, without a type",
                     value_of(properties, fmt::format("{}{}.location", tls_prefix, store))));
}

/// `protocol` is the only version, unless `enabledProtocols` lists them.
void take_versions(const Properties& properties, const std::string& origin, TlsSettings& tls) {
  std::string key = "zookeeper.ssl.enabledProtocols";
  if (!properties.contains(key)) key = "zookeeper.ssl.protocol";
  const auto names = value_of(properties, key);
  if (names.empty()) return;
  tls.tls12 = false;
  tls.tls13 = false;
  for (const auto part : split(names, ',')) {
    const auto name = trimmed(part);
    const bool any = name == "TLS" || name == "Default";
    tls.tls12 = tls.tls12 || any || name == "TLSv1.2";
    tls.tls13 = tls.tls13 || any || name == "TLSv1.3";
    constexpr std::array<std::string_view, 6> known{"SSLv2Hello", "SSLv3",   "TLSv1",
                                                    "TLSv1.1",    "TLSv1.2", "TLSv1.3"};
    if (!any && std::ranges::find(known, name) == known.end())
      refuse(origin, key, fmt::format("there is no {}", name));
  }
  if (!tls.tls12 && !tls.tls13) refuse(origin, key, "zksh has TLSv1.2 and TLSv1.3 alone");
}

/// Refuses what only Java can do, and takes what zksh can do, too.
void take_details(const Properties& properties, const std::string& origin, TlsSettings& tls) {
  const auto is_on = [&](const std::string& key) {
    return switch_of(properties, key, origin).value_or(false);
  };
  refuse_unknown(properties, origin);
  for (const auto* const store : {"keyStore", "trustStore"}) refuse_type(properties, store, origin);
  if (!value_of(properties, "zookeeper.ssl.context.supplier.class").empty())
    refuse(origin, "zookeeper.ssl.context.supplier.class",
           "only Java can run a class; use the properties of the stores");
  if (is_on("zookeeper.ssl.ocsp"))
    refuse(origin, "zookeeper.ssl.ocsp",
           "zksh asks no OCSP responder; put revocation lists (PEM) into the file of "
           "trustStore.location, and set zookeeper.ssl.crl instead");
  if (is_on("zookeeper.ssl.allowReverseDnsLookup"))
    refuse(origin, "zookeeper.ssl.allowReverseDnsLookup",
           "zksh looks up no name of an address; name the server in the connect string as its "
           "certificate does");
  tls.must_revoke = is_on("zookeeper.ssl.crl");
  take_versions(properties, origin, tls);
  const auto suites = value_of(properties, "zookeeper.ssl.ciphersuites");
  for (const auto part : split(suites, ','))
    if (!trimmed(part).empty()) tls.ciphers.emplace_back(trimmed(part));
}

/// Takes Java's properties of TLS. `origin` is for messages.
void take_tls(const Properties& properties, const std::string& origin, Configuration& configuration,
              JavaSecurity& java, std::string& warning) {
  const auto value = [&](const std::string& key) { return value_of(properties, key); };
  if (!switch_of(properties, "zookeeper.client.secure", origin).value_or(false)) {
    const auto stray = std::ranges::find_if(
        properties, [](const auto& entry) { return entry.first.starts_with(tls_prefix); });
    if (stray != properties.end())
      add_warning(warning,
                  fmt::format("warning: {} sets {}, but not zookeeper.client.secure=true; TLS is "
                              "not used, as in zkCli.sh",
                              origin, stray->first));
    return;
  }
  take_details(properties, origin, java.tls);
  const auto set = [&](std::string_view key, const std::string& text) {
    put(configuration, key, text, origin);
  };
  set("tls", "on");
  // Their types are found from their content.
  set("tls-ca", value("zookeeper.ssl.trustStore.location"));
  set("tls-cert", value("zookeeper.ssl.keyStore.location"));
  set("tls-ca-password-file", value("zookeeper.ssl.trustStore.passwordPath"));
  set("tls-key-password-file", value("zookeeper.ssl.keyStore.passwordPath"));
  if (!switch_of(properties, "zookeeper.ssl.hostnameVerification", origin).value_or(true))
    set("tls-verify-name", "off");
  const auto password = [&](const std::string& key) {
    return Password{.text = value(key), .from = fmt::format("{} in {}", key, origin)};
  };
  java.tls.key_password = password("zookeeper.ssl.keyStore.password");
  java.tls.ca_password = password("zookeeper.ssl.trustStore.password");
}

/// Reads the password in the first line of a file. No message may show it.
std::string read_password(const std::string& name, std::string& warning) {
  auto text = read_text_file(name);
  text.resize(std::min(text.size(), text.find_first_of("\r\n")));
  if (text.empty()) throw UsageError(fmt::format("{}: the first line has no password", name));
  if (text.find('\0') != std::string::npos)
    throw UsageError(fmt::format("{}: the password contains a NUL byte", name));
  add_warning(warning, warning_of_readers(name));
  return text;
}

/// Whether `tls` is on, or another key asks for TLS with higher precedence than `tls` has. Throws
/// UsageError if the two contradict each other with the same precedence.
bool is_tls_wanted(const Configuration& configuration) {
  std::string_view asks;
  for (const auto& key : Configuration::keys()) {
    if (!key.name.starts_with("tls-")) continue;
    const bool is_default =
        key.initial == "on" ? configuration.is_on(key.name) : configuration.text(key.name).empty();
    if (is_default) continue;
    if (asks.empty() || configuration[key.name].level > configuration[asks].level) asks = key.name;
  }
  const auto& said = configuration["tls"];
  if (said.text.empty()) return !asks.empty();
  if (configuration.is_on("tls") || asks.empty()) return configuration.is_on("tls");
  if (configuration[asks].level == said.level)
    throw UsageError(fmt::format("{} is off, but {} asks for TLS; remove one of them",
                                 configuration.described("tls"), configuration.described(asks)));
  return configuration[asks].level > said.level;
}

/// `java`: what the configuration has no keys for.
TlsSettings parse_tls(const Configuration& configuration, const TlsSettings& java,
                      std::string& warning) {
  if (!is_tls_wanted(configuration)) return {};
  auto tls = java;
  tls.on = true;
  tls.ca = with_home(configuration.text("tls-ca"));
  tls.certificate = with_home(configuration.text("tls-cert"));
  tls.key = with_home(configuration.text("tls-key"));
  tls.verify = configuration.is_on("tls-verify");
  tls.verify_name = tls.verify && configuration.is_on("tls-verify-name");
  if (tls.certificate.empty() && !tls.key.empty())
    throw UsageError(configuration.described("tls-key") +
                     ": the certificate of the key is missing; give it with --tls-cert");
  if (tls.key.empty()) tls.key = tls.certificate;
  const auto take_password = [&](const std::string& key, Password& password) {
    const auto& file = configuration.text(key);
    if (!file.empty())
      password = {.text = read_password(with_home(file), warning), .from = "--" + key};
    else if (password.from.empty())
      password.from = "--" + key;
  };
  take_password("tls-key-password-file", tls.key_password);
  take_password("tls-ca-password-file", tls.ca_password);
  return tls;
}

SaslSettings parse_sasl(const Configuration& configuration, const Password& given,
                        std::string& warning) {
  SaslSettings sasl{.mechanism = configuration.text("sasl-mechanism"),
                    .user = configuration.text("sasl-user"),
                    .password = {}};
  const auto& file = configuration.text("sasl-password-file");
  if (sasl.mechanism.empty() && sasl.user.empty() && file.empty()) return {};
  if (sasl.mechanism.empty()) sasl.mechanism = "DIGEST-MD5";
  // With Kerberos, the ticket identifies the user.
  const bool named = sasl.mechanism != "GSSAPI";
  // The C client aborts at the last answer of some others, and some would reveal the password.
  if (named && sasl.mechanism != "DIGEST-MD5")
    throw UsageError(fmt::format("{}: ZooKeeper's servers support DIGEST-MD5 and GSSAPI, not {}",
                                 configuration.described("sasl-mechanism"), sasl.mechanism));
  if (named && sasl.user.empty())
    throw UsageError(fmt::format("SASL {} needs a user; use --sasl-user", sasl.mechanism));
  if (named && file.empty() && given.text.empty())
    throw UsageError(fmt::format(
        "SASL {} needs a password; use --sasl-password-file, whose first line is the password",
        sasl.mechanism));
  sasl.password = file.empty() ? given.text : read_password(with_home(file), warning);
  return sasl;
}

/// The properties of a file, without blanks around them, as ZooKeeper reads them.
Properties parse_client_file(const std::string& name, std::string& warning) {
  Properties properties;
  bool has_password = false;
  for (const auto& [key, value] : java_properties(read_file(name))) {
    const auto text = trimmed(value);
    has_password = has_password || (key.ends_with(".password") && !text.empty());
    properties.insert_or_assign(std::string(trimmed(key)), std::string(text));
  }
  if (has_password) add_warning(warning, warning_of_readers(name));
  return properties;
}

/// The words, quoted texts and signs of a login configuration, without its comments.
std::vector<std::string> tokens_of(std::string_view text) {
  std::vector<std::string> tokens;
  const auto is_sign = [](char c) {
    return std::string_view("{};=").find(c) != std::string_view::npos;
  };
  for (std::size_t at = 0; at < text.size();) {
    const auto rest = text.substr(at);
    if (is_white_space(text[at])) {
      ++at;
    } else if (rest.starts_with("//") || rest.front() == '#') {
      at += std::min(rest.find('\n'), rest.size());
    } else if (rest.starts_with("/*")) {
      const auto end = rest.find("*/", 2);
      at += end == std::string_view::npos ? rest.size() : end + 2;
    } else if (rest.front() == '"') {
      std::string quoted;
      for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\\' && at + 1 < text.size()) ++at;
        quoted += text[at];
      }
      ++at;
      tokens.push_back(std::move(quoted));
    } else if (is_sign(rest.front())) {
      tokens.emplace_back(1, text[at++]);
    } else {
      const auto begin = at;
      while (at < text.size() && !is_white_space(text[at]) && !is_sign(text[at])) ++at;
      tokens.emplace_back(text.substr(begin, at - begin));
    }
  }
  return tokens;
}

/// The system properties, -DKEY=VALUE, of the variables that zkCli.sh and Kafka's scripts pass to
/// Java; later ones count.
struct JavaFlags {
  Properties properties{};
  std::string variable{};  ///< the one that asks for TLS or authentication; empty if none does
  std::string asks{};      ///< the property with which it does
};
JavaFlags java_flags() {
  JavaFlags flags;
  for (const char* const variable :
       {"SERVER_JVMFLAGS", "KAFKA_OPTS", "CLIENT_JVMFLAGS", "JVMFLAGS"}) {
    auto spaced = environment(variable);
    std::ranges::replace_if(
        spaced, [](char c) { return c == '\t' || c == '\n'; }, ' ');
    for (const auto word : split(spaced, ' ')) {
      if (!word.starts_with("-D")) continue;
      const auto equals = std::min(word.find('='), word.size());
      const std::string key(word.substr(2, equals - 2));
      const std::string value(word.substr(std::min(equals + 1, word.size())));
      flags.properties[key] = value;
      const bool asks = key == "zookeeper.client.secure"
                            ? equal_ignoring_case(trimmed(value), "true")
                            : key == "java.security.auth.login.config";
      if (!asks) continue;
      flags.variable = variable;
      flags.asks = key;
    }
  }
  return flags;
}

}  // namespace

void add_warning(std::string& warning, const std::string& text) {
  if (!text.empty()) warning += (warning.empty() ? "" : "\nzksh: ") + text;
}

Security take_security(Configuration& configuration, const std::string& client_file, bool drop_in,
                       std::string& warning) {
  JavaSecurity java;
  const auto flags = java_flags();
  const auto variable = "$" + (flags.variable.empty() ? "JVMFLAGS" : flags.variable);
  if (drop_in) {
    const auto properties = with_zkcli_names(flags.properties);
    take_login(properties, configuration, java, variable, warning);
    if (client_file.empty()) take_tls(properties, variable, configuration, java, warning);
  }
  if (!client_file.empty()) {
    auto properties = with_zkcli_names(parse_client_file(client_file, warning));
    const auto origin = "-client-configuration " + client_file;
    refuse_jaas(properties, origin, configuration);
    if (drop_in) properties.merge(with_zkcli_names(flags.properties));  // what the file leaves open
    take_tls(properties, origin, configuration, java, warning);
  }
  Security security{.tls = parse_tls(configuration, java.tls, warning),
                    .sasl = parse_sasl(configuration, java.sasl, warning)};
  const bool safe = security.tls.on || !security.sasl.mechanism.empty();
  if (!drop_in && !flags.variable.empty() && !safe)
    add_warning(warning, fmt::format("warning: ${} sets {}, which zksh reads only in the place of "
                                     "zkCli.sh (--as zkcli); zksh-security(7) says what to use",
                                     flags.variable, flags.asks));
  return security;
}

std::optional<JavaLogin> parse_java_login(std::string_view text, std::string_view section) {
  const auto tokens = tokens_of(text);
  for (auto at = tokens.begin(); at + 2 < tokens.end(); ++at) {
    if (*at != section || *(at + 1) != "{") continue;
    JavaLogin login{.module = (at + 2)->substr((at + 2)->rfind('.') + 1)};  // npos + 1 is 0
    for (at += 3; at < tokens.end() && *at != ";" && *at != "}"; ++at)
      if (tokens.end() - at > 2 && *(at + 1) == "=") login.options[*at] = *(at + 2);
    return login;
  }
  return std::nullopt;
}

std::vector<Credential> parse_auth_file(const std::string& text, const std::string& name) {
  std::vector<Credential> credentials;
  std::size_t number = 0;
  for (const auto whole_line : lines_of(text)) {
    ++number;
    const auto line = trimmed(whole_line);
    if (line.empty() || line.front() == '#') continue;
    const auto scheme_end = line.find_first_of(white_space);
    if (scheme_end == std::string_view::npos)
      throw UsageError(fmt::format(
          "{}:{}: expected a scheme and a credential (user:password for digest)", name, number));
    credentials.push_back(
        {std::string(line.substr(0, scheme_end)), std::string(trimmed(line.substr(scheme_end)))});
  }
  if (credentials.empty()) throw UsageError(fmt::format("{} holds no credential", name));
  return credentials;
}

AuthFile read_auth_file(const std::string& name) {
  return {.credentials = parse_auth_file(read_text_file(name), name),
          .warning = warning_of_readers(name)};
}

}  // namespace zksh
