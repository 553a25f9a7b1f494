// Sasl: authenticates a connection through Cyrus SASL, which is loaded when it is first needed.
#pragma once

#include "client/security.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sasl_conn;

namespace zksh {

/// Loads Cyrus SASL and stores what the mechanism needs. Call it once, before any session. Throws
/// UsageError if the library is missing, or does not support the mechanism. Blocks.
void prepare_sasl(const SaslSettings& settings);

/// The client's side of the exchange on one connection.
///
/// As in the C client (zk_sasl.c, after ZooKeeperSaslClient.java): with DIGEST-MD5 the first
/// request is empty, since Java's servers do not accept a second authentication as a new one
/// (JDK-6682540); with GSSAPI the server sends one more token after the client's last.
class SaslExchange {
 public:
  /// `host` is the server's name, for Kerberos.
  SaslExchange(const SaslSettings& settings, std::string host);
  SaslExchange(const SaslExchange&) = delete;
  SaslExchange& operator=(const SaslExchange&) = delete;
  ~SaslExchange();

  struct Step {
    std::optional<std::string> token{};  ///< to send
    bool is_over = false;                ///< the connection is authenticated
    bool failed = false;
    std::string problem{};  ///< why this machine's Kerberos failed, for the user; may be empty
    std::string user{};     ///< once it is over, the user's Kerberos principal
  };
  /// Takes the first step (without a token), or the next one after a token from the server, on a
  /// thread of its own: a step may wait half a minute for a KDC, or look up this machine's name.
  /// Calls `done` there, or at once if no thread can be started. One step at a time.
  static void advance(const std::shared_ptr<SaslExchange>& exchange,
                      std::optional<std::string> token,
                      const std::function<void(const Step&)>& done);
  /// What to tell the user about a step that takes longer than this.
  static std::string no_answer(const SaslSettings& settings, std::chrono::seconds waited);

 private:
  Step begin();
  Step proceed(std::string_view token);
  Step step(int result, const char* bytes, unsigned size);
  std::string kerberos_problem() const;

  std::string mechanism_;
  std::string host_;
  sasl_conn* connection_ = nullptr;
  bool begun_ = false;
  bool expects_last_ = false;  ///< the server's token after the client's last
};

}  // namespace zksh
