// Sasl: authenticates a connection through Cyrus SASL, which is loaded when it is first needed.
#pragma once

#include "client/security.h"

#include <optional>
#include <string>
#include <string_view>

struct sasl_conn;

namespace zksh {

/// Loads Cyrus SASL and stores what the mechanism needs. Call it once, before any session. Throws
/// UsageError if there is none, or it does not support the mechanism. Blocks.
void prepare_sasl(const SaslSettings& settings);

/// The client's side of the exchange on one connection. Used by one thread at a time.
///
/// As in the C client (zk_sasl.c, after ZooKeeperSaslClient.java): the first request is empty with
/// DIGEST-MD5, since Java's servers cannot take a second authentication for a new one
/// (JDK-6682540); with GSSAPI the server sends one more token after the client's last.
class SaslExchange {
 public:
  /// `host` is the server's name, for Kerberos.
  SaslExchange(const SaslSettings& settings, const std::string& host);
  SaslExchange(const SaslExchange&) = delete;
  SaslExchange& operator=(const SaslExchange&) = delete;
  ~SaslExchange();

  struct Step {
    std::optional<std::string> token{};  ///< to send
    bool is_over = false;                ///< the connection is authenticated
  };
  /// The first step; nullopt if it fails, with a problem. With GSSAPI it may ask a KDC, which
  /// blocks.
  std::optional<Step> begin();
  /// The step after a token from the server. As begin.
  std::optional<Step> proceed(std::string_view token);
  /// What this machine's mechanism says of its failure, for the user; may be empty.
  const std::string& problem() const { return problem_; }

 private:
  std::optional<Step> step(int result, const char* bytes, unsigned size);

  std::string mechanism_;
  sasl_conn* connection_ = nullptr;
  bool expects_last_ = false;  ///< the server's token after the client's last
  std::string problem_{};
};

}  // namespace zksh
