// TLS: the process's context, and what its handshakes came to.
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

/// All sessions of a process share the settings. Members may be called from any thread.
class Tls {
 public:
  /// Reads the certificates. Throws UsageError for one that cannot be used. Blocks.
  explicit Tls(TlsSettings settings);

  SSL_CTX* context() const { return context_.get(); }
  const TlsSettings& settings() const { return settings_; }
  /// Servers of a session that is about to be opened: their failures are forgotten.
  void add(Monitor& monitor, const ConnectString& servers);
  /// Those added that have this numeric address and port; names are looked up, which may block.
  std::vector<ServerAddress> servers_at(const std::string& host, int port);
  /// Takes note of why a connection to these servers failed, and whether trying again helps not.
  void note_failure(const std::vector<ServerAddress>& servers, const std::string& failure,
                    bool lasting);
  /// Takes note that it did not fail.
  void note_success(const std::vector<ServerAddress>& servers);
  const std::map<std::string, std::string>& failures(const Monitor::Held& held) const {
    return failures_(held);
  }
  /// Whether connections to a server fail, and trying again is not worth while.
  bool is_hopeless(const Monitor::Held& held, const ServerAddress& server) const;

 private:
  struct Free {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  };

  TlsSettings settings_;
  std::unique_ptr<SSL_CTX, Free> context_;
  std::atomic<Monitor*> monitor_{nullptr};
  Guarded<std::vector<ServerAddress>> servers_;
  Guarded<std::map<std::string, std::string>> failures_;
  Guarded<std::map<std::string, int>> tries_;  ///< those that failed, one after another
};

/// The process's; null before make_tls.
Tls* tls();
/// Once, before any session. Throws as Tls.
void make_tls(const TlsSettings& settings);

}  // namespace zksh
