// Tls: TLS as a client, with OpenSSL.
#pragma once

#include "base/monitor.h"
#include "client/security.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

struct bio_st;
struct ssl_ctx_st;
struct ssl_st;

namespace zksh {

/// The authorities and the client's certificate. Files that change, as certificates are renewed,
/// are read again, on a thread that only does that: they may be on a file system that has stalled.
/// From any thread. It must last until the process ends.
class Tls {
 public:
  /// Reads the files: PEM, or PKCS#12. Throws UsageError if one cannot be used, or there is no
  /// OpenSSL. Blocks.
  explicit Tls(TlsSettings settings);

  const TlsSettings& settings() const { return settings_; }
  /// For a new connection: what was read last. Does not block.
  std::shared_ptr<ssl_ctx_st> context();
  /// Whether `context` is what the files have now, or had a moment ago. Does not block.
  bool is_fresh();
  /// Reads files that have changed, unless they cannot be used now, and then calls `then`, both on
  /// the other thread. Does not block. False if that thread cannot be started.
  bool refresh(std::function<void()> then);
  /// As refresh, but waits until that is done, or until `deadline`.
  void await_fresh(Clock::time_point deadline);

 private:
  std::string state_of_files() const;
  void read_again();
  void serve();

  const TlsSettings settings_;
  std::mutex mutex_;
  std::string read_;  ///< the files' state when they were read
  std::shared_ptr<ssl_ctx_st> context_;
  Clock::time_point looked_at_ = Clock::now();  ///< when the thread last began to look at them
  bool serving_ = false;                        ///< there is a thread
  std::vector<std::function<void()>> waiting_;  ///< what it is to call
};

/// The failure of a connection to a server that does not speak TLS.
inline constexpr std::string_view no_tls_here = "TLS: the server does not talk TLS on this port";

/// One connection: converts between its plain bytes and those on the network, and checks the
/// server's certificate and the name in it. It does no input or output, and never blocks. Used by
/// one thread at a time.
class TlsConnection {
 public:
  /// `hosts`: what the user calls the server; its certificate must be for one of these. `address`
  /// is its numeric address, for messages.
  TlsConnection(Tls& tls, std::vector<std::string> hosts, std::string address);

  /// Begins the handshake, with the authorities and the certificate that are in force now, unless
  /// it has begun. Its first bytes are in `output`.
  void start();
  bool has_started() const { return ssl_ != nullptr; }
  /// Whether the handshake is over and was successful.
  bool is_ready() const { return ready_; }
  /// What went wrong, for the user; empty if nothing has.
  const std::string& failure() const { return failure_; }
  /// Whether another attempt would fail too.
  bool is_lasting() const { return lasting_; }
  /// Ends a handshake that takes too long.
  void give_up();

  /// Takes bytes from the network; no bytes mean that the server has closed the connection.
  void receive(std::string_view bytes);
  /// Bytes for the network. The caller removes what it has sent.
  std::string& output() { return output_; }

  /// Takes plain bytes to send. Kept until the handshake is over.
  void write(std::string_view bytes);
  /// As recv of a socket that does not block; EAGAIN until the handshake is over.
  ssize_t read(char* buffer, std::size_t size);
  /// Whether the server has said that nothing follows. Without that, somebody may have cut the
  /// connection off.
  bool has_ended() const { return ended_; }
  /// Whether `read` may have something to return before more bytes come from the network.
  bool may_have_unread() const;

 private:
  void proceed();
  void collect_output();
  void fail(std::string why, bool lasting);
  std::string wrong_name() const;
  std::string reason() const;

  struct Free {
    void operator()(ssl_st* ssl) const;
  };

  Tls& tls_;
  std::vector<std::string> hosts_;
  std::string address_;
  std::shared_ptr<ssl_ctx_st> context_{};
  std::unique_ptr<ssl_st, Free> ssl_{};
  bio_st* in_ = nullptr;  ///< what came from the network; the SSL's
  bio_st* out_ = nullptr;
  std::string output_{};
  std::string early_{};    ///< from the network, before the handshake has begun
  std::string waiting_{};  ///< plain bytes, until the handshake is over
  std::string failure_{};
  bool lasting_ = true;
  bool ready_ = false;
  bool spoke_ = false;   ///< the server has sent plain bytes
  bool ended_ = false;   ///< it has said that it sends no more
  bool closed_ = false;  ///< by the server
};

/// The process's TLS; null if it is off. From any thread, once main has set it.
Tls* tls();
/// Sets it; call it before any connection is made. Throws and blocks as Tls's constructor.
void use_tls(const TlsSettings& settings);

}  // namespace zksh
