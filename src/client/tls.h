// Tls: TLS as a client, with OpenSSL.
#pragma once

#include "client/security.h"

#include <cstddef>
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

/// The authorities and the client's certificate. From any thread.
class Tls {
 public:
  /// Reads the files: PEM, or PKCS#12. Throws UsageError if one cannot be used, or there is no
  /// OpenSSL. Blocks.
  explicit Tls(TlsSettings settings);

  const TlsSettings& settings() const { return settings_; }
  /// For a new connection. Reads the files again if they have changed, as certificates are renewed;
  /// keeps what it has if they cannot be used now.
  std::shared_ptr<ssl_ctx_st> context();

 private:
  std::string state_of_files() const;

  const TlsSettings settings_;
  std::mutex mutex_;
  std::string read_;  ///< the files' state when they were read
  std::shared_ptr<ssl_ctx_st> context_;
};

/// The failure of a connection to a server that talks something else.
inline constexpr std::string_view no_tls_here = "TLS: the server does not talk TLS on this port";

/// One connection: converts between its plain bytes and those on the network, and checks the
/// server's certificate and the name in it. It does no input or output, and never blocks. Used by
/// one thread at a time.
class TlsConnection {
 public:
  /// `hosts`: what the user calls the server; its certificate must be for one of these. `address`
  /// is its numeric address, for messages. The bytes to begin with are in `output`.
  TlsConnection(Tls& tls, std::vector<std::string> hosts, std::string address);

  /// Whether the handshake is over and was successful.
  bool is_ready() const { return ready_; }
  /// What went wrong, for the user; empty if nothing has.
  const std::string& failure() const { return failure_; }
  /// Whether another attempt would fail too.
  bool is_lasting() const { return lasting_; }
  /// Ends a handshake that takes too long.
  void give_up();

  /// Takes bytes from the network; none mean that the server has closed the connection.
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

  const TlsSettings& settings_;
  std::vector<std::string> hosts_;
  std::string address_;
  std::shared_ptr<ssl_ctx_st> context_;
  std::unique_ptr<ssl_st, Free> ssl_;
  bio_st* in_ = nullptr;  ///< what came from the network; the SSL's
  bio_st* out_ = nullptr;
  std::string output_{};
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
/// Sets it, before any connection is made. As Tls's constructor.
void use_tls(const TlsSettings& settings);

}  // namespace zksh
