// TLS calls: the handshakes of the C client, checking the server's name, in bounded time; and its
// bytes, which are checked before it sees them.
#include "session/library/tls_calls.h"

#include "client/host_addresses.h"
#include "session/library/tls.h"
#include "session/session_library.h"
#include "session/socket_interposer.h"
#include "session/wire_link.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/select.h>
#include <sys/socket.h>
#include <utility>
#include <vector>

namespace zksh {
namespace {

/// A server that takes longer for a handshake does not speak TLS.
constexpr std::chrono::seconds longest_handshake{5};

std::atomic<unsigned> hang_ups{0};

/// The state of a connection. Owned by its SSL; used on that one's thread.
struct TlsConnection {
  std::vector<ServerAddress> servers;  ///< the servers that it may belong to
  std::string address;                 ///< numeric, with the port
  Clock::time_point begun = Clock::now();
  std::optional<unsigned> hang_ups_before{};  ///< count of hang_up_handshakes when it began
  bool spoke = false;                         ///< data were received
  WireLink link{};
};

void free_connection(void* /*parent*/, void* connection, CRYPTO_EX_DATA* /*data*/, int /*index*/,
                     long /*argl*/, void* /*argp*/) {
  delete static_cast<TlsConnection*>(connection);
}

int connection_index() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, free_connection);
  return index;
}

std::unique_ptr<TlsConnection> connection_over(int fd) {
  auto connection = std::make_unique<TlsConnection>();
  SocketAddress peer{.size = sizeof peer.bytes};
  if (getpeername(fd, peer.get(), &peer.size) != 0) return connection;
  const auto [host, port] = peer.server();
  connection->address = fmt::format("{}:{}", host, port);
  connection->servers = tls()->servers_at(host, port);
  return connection;
}

/// Whether a host is an address in the form that certificates use.
bool is_certificate_address(const std::string& host) {
  ASN1_OCTET_STRING* const bytes = a2i_IPADDRESS(host.c_str());
  ASN1_OCTET_STRING_free(bytes);
  return bytes != nullptr;
}

/// The connection of an SSL; the first call creates it and sets the server's name for the
/// handshake. It looks names up, which may block.
TlsConnection& tls_connection(SSL* ssl) {
  if (auto* const known = SSL_get_ex_data(ssl, connection_index()))
    return *static_cast<TlsConnection*>(known);
  auto fresh = connection_over(SSL_get_fd(ssl));
  if (!fresh->servers.empty() && !is_certificate_address(fresh->servers.front().host))
    SSL_set_tlsext_host_name(ssl, fresh->servers.front().host.c_str());
  SSL_set_ex_data(ssl, connection_index(), fresh.get());
  return *fresh.release();
}

/// Whether the server just closed the connection, by OpenSSL's error queue.
bool was_left() {
  const auto error = ERR_peek_last_error();
  return error == 0 || ERR_GET_LIB(error) == ERR_LIB_SYS ||
         (ERR_GET_LIB(error) == ERR_LIB_SSL &&
          ERR_GET_REASON(error) == SSL_R_UNEXPECTED_EOF_WHILE_READING);
}

/// What went wrong, from OpenSSL's error queue, which is left unchanged.
std::string tls_failure_text(SSL* ssl) {
  const auto error = ERR_peek_last_error();
  const char* const text = ERR_reason_error_string(error);
  const auto verified = SSL_get_verify_result(ssl);
  if (tls()->settings().verify && verified != X509_V_OK && ERR_GET_LIB(error) == ERR_LIB_SSL &&
      ERR_GET_REASON(error) == SSL_R_CERTIFICATE_VERIFY_FAILED) {
    const bool unknown =
        verified != X509_V_ERR_CERT_HAS_EXPIRED && verified != X509_V_ERR_CERT_NOT_YET_VALID;
    return fmt::format("TLS: the server's certificate is refused: {}{}",
                       X509_verify_cert_error_string(verified),
                       unknown ? "; --tls-ca names the authorities to trust" : "");
  }
  if (ERR_GET_LIB(error) == ERR_LIB_SSL && ERR_GET_REASON(error) == SSL_R_WRONG_VERSION_NUMBER)
    return "TLS: the server does not talk TLS on this port";
  if (was_left() || !text)
    return "TLS: the server hangs up during the handshake; is this its TLS port?";
  const bool by_server =
      ERR_GET_LIB(error) == ERR_LIB_SSL && ERR_GET_REASON(error) >= SSL_AD_REASON_OFFSET;
  const bool without = tls()->settings().certificate.empty();
  return fmt::format("TLS: {}{}", by_server ? "the server refuses: " : "", text) +
         (by_server && without ? "; it may want a client certificate: --tls-cert" : "");
}

/// Records a failure; returns what OpenSSL's functions return for one. `lasting`: retrying would
/// not help.
int tls_failed(const TlsConnection& connection, const std::string& why, bool lasting = true) {
  tls()->note_failure(connection.servers, why, lasting);
  if (ERR_peek_error() == 0) ERR_raise(ERR_LIB_USER, ERR_R_OPERATION_FAIL);
  errno = ECONNABORTED;
  return -1;
}

bool is_for(X509* certificate, const std::string& host) {
  return is_certificate_address(host)
             ? X509_check_ip_asc(certificate, host.c_str(), 0) == 1
             : X509_check_host(certificate, host.c_str(), 0, 0, nullptr) == 1;
}

/// The first names in a certificate, which may be an impostor's: escapes them for terminals.
std::string names_in(X509* certificate) {
  constexpr int most = 5;
  std::string text;
  auto* const names = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < std::min(sk_GENERAL_NAME_num(names), most); ++i) {
    const auto* const name = sk_GENERAL_NAME_value(names, i);
    if (name->type != GEN_DNS) continue;
    const std::string_view bytes(
        reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
        static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName)));
    if (!text.empty()) text += ", ";
    for (const char byte : bytes.substr(0, 255)) text += byte > ' ' && byte < 0x7f ? byte : '?';
  }
  GENERAL_NAMES_free(names);
  return text;
}

/// Why the server's certificate is not for the intended name; empty if it is.
std::string wrong_name(SSL* ssl, const TlsConnection& connection) {
  if (!tls()->settings().verify_name) return {};
  X509* const certificate = SSL_get0_peer_certificate(ssl);
  if (certificate == nullptr) return "TLS: the server shows no certificate";
  std::string wanted;
  for (const auto& server : connection.servers) {
    if (is_for(certificate, server.host)) return {};
    wanted += (wanted.empty() ? "" : " or ") + server.host;
  }
  const auto names = names_in(certificate);
  return fmt::format("TLS: the server's certificate is not for {}{}",
                     wanted.empty() ? connection.address : wanted,
                     names.empty() ? "" : fmt::format(", but for {}", names));
}

/// The socket of this thread's session if its TLS has unread bytes; else -1.
thread_local int unread_on = -1;

/// Converts a result to that of read(2) for the C client, which only looks at errno.
int to_errno(SSL* ssl, int result) {
  if (result > 0) return result;
  const int kind = SSL_get_error(ssl, result);
  if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE) {
    errno = EAGAIN;
    return -1;
  }
  if (kind == SSL_ERROR_ZERO_RETURN) return 0;
  auto& connection = tls_connection(ssl);
  // In TLS 1.3 a server checks the client's certificate after the client considers the handshake
  // complete.
  if (!connection.spoke && kind == SSL_ERROR_SSL)
    return tls_failed(connection, tls_failure_text(ssl), !was_left());
  errno = ECONNRESET;
  return -1;
}

}  // namespace

void hang_up_handshakes() { ++hang_ups; }

}  // namespace zksh

using namespace zksh;

SSL_CTX* zksh_tls_context() {
  SSL_CTX* const context = tls()->context();
  SSL_CTX_up_ref(context);
  return context;
}

int zksh_tls_connect(SSL* ssl) {
  auto& connection = tls_connection(ssl);
  if (!connection.hang_ups_before) connection.hang_ups_before = hang_ups.load();
  unread_on = -1;  // a new connection
  ERR_clear_error();
  const int result = SSL_connect(ssl);
  if (result == 1) {
    const auto wrong = wrong_name(ssl, connection);
    return wrong.empty() ? result : tls_failed(connection, wrong);
  }
  // The C client would select on it.
  if (SSL_get_fd(ssl) >= FD_SETSIZE)
    return tls_failed(connection, fmt::format("TLS: more than {} files are open", FD_SETSIZE));
  const int kind = SSL_get_error(ssl, result);
  if (kind != SSL_ERROR_WANT_READ && kind != SSL_ERROR_WANT_WRITE)
    return tls_failed(connection, tls_failure_text(ssl), !was_left());
  if (Clock::now() - connection.begun > longest_handshake)
    return tls_failed(connection,
                      "TLS: the server does not answer the handshake; is this its TLS "
                      "port?");
  if (connection.hang_ups_before != hang_ups) ERR_raise(ERR_LIB_USER, ERR_R_OPERATION_FAIL);
  return result;
}

int zksh_tls_read(SSL* ssl, void* buffer, int size) {
  ERR_clear_error();
  const int result = SSL_read(ssl, buffer, size);
  unread_on = SSL_pending(ssl) > 0 ? SSL_get_fd(ssl) : -1;
  if (result <= 0) return to_errno(ssl, result);
  auto& connection = tls_connection(ssl);
  if (!std::exchange(connection.spoke, true)) tls()->note_success(connection.servers);
  const std::string_view bytes(static_cast<const char*>(buffer), static_cast<std::size_t>(result));
  return refuse_received(connection.link, SSL_get_fd(ssl), bytes) ? -1 : result;
}

int zksh_tls_write(SSL* ssl, const void* bytes, int size) {
  const std::string_view given(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
  auto& link = tls_connection(ssl).link;
  link.look_at_sent(given);
  ERR_clear_error();
  const int result = SSL_write(ssl, bytes, size);
  if (result <= 0) return to_errno(ssl, result);
  note_sent(link, SSL_get_fd(ssl), given.substr(0, static_cast<std::size_t>(result)));
  return result;
}

int zksh_tls_poll(pollfd* sockets, nfds_t count, int timeout_ms) {
  pollfd* const end = sockets + count;
  pollfd* const unread = std::find_if(sockets, end, [](const pollfd& socket) {
    return socket.fd >= 0 && socket.fd == unread_on && (socket.events & POLLIN) != 0;
  });
  const int ready = poll(sockets, count, unread == end ? timeout_ms : 0);
  if (unread == end) return ready;
  unread->revents |= POLLIN;
  return std::max(ready, 1);
}
