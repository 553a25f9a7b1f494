// TLS: the process's context, and the results of its handshakes.
#pragma once

#include "base/monitor.h"
#include "client/connect_string.h"
#include "client/security.h"

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <openssl/ssl.h>
#include <string>
#include <vector>

namespace zksh {

/// Settings shared by all sessions of a process. Members may be called from any thread.
class Tls {
 public:
  /// Reads the certificates. Throws UsageError if one cannot be used. Blocks.
  explicit Tls(TlsSettings settings);

  SSL_CTX* context() const { return context_.get(); }
  const TlsSettings& settings() const { return settings_; }
  /// Adds the servers of a session that is about to be opened, and forgets their failures.
  void add(Monitor& monitor, const ConnectString& servers);
  /// The added servers with this numeric address and port; looks names up, which may block.
  std::vector<ServerAddress> servers_at(const std::string& host, int port);
  /// Records why a connection to these servers failed; `lasting`: retrying would not help.
  void note_failure(const std::vector<ServerAddress>& servers, const std::string& failure,
                    bool lasting);
  /// Records that it did not fail.
  void note_success(const std::vector<ServerAddress>& servers);
  /// Why connections to a server fail.
  struct Failure {
    std::string reason;  ///< the latest
    int tries = 0;       ///< number of consecutive failures; more if retrying would not help
  };
  /// By ServerAddress::text().
  const std::map<std::string, Failure>& failures(const Monitor::Held& held) const {
    return failures_(held);
  }

 private:
  struct Free {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  };

  TlsSettings settings_;
  std::unique_ptr<SSL_CTX, Free> context_;
  std::atomic<Monitor*> monitor_{nullptr};
  Guarded<std::vector<ServerAddress>> servers_;
  Guarded<std::map<std::string, Failure>> failures_;
};

/// The process's instance; null until prepare_security sets it.
std::unique_ptr<Tls>& tls();

}  // namespace zksh
