// Handshake: the C client's TLS calls, with the server's name looked at and an end in time.
#include "connect_string.h"
#include "session_library.h"
#include "tls.h"
#include "tls_calls.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <string_view>
#include <sys/socket.h>
#include <utility>

namespace zksh {
namespace {

/// A server that takes longer than this for one handshake does not talk TLS.
constexpr std::chrono::seconds longest_handshake{5};

std::atomic<unsigned> hang_ups{0};

/// The socket of this thread's session when its TLS holds bytes that nobody has read; else -1.
thread_local int unread_on = -1;

/// What is known of a connection; it belongs to its SSL.
struct Connection {
  std::vector<ServerAddress> servers;  ///< that it may be to
  std::string address;                 ///< numeric, with the port
  Clock::time_point begun = Clock::now();
  unsigned hang_ups_before = hang_ups;
  bool spoke = false;  ///< data came
};

void free_connection(void* /*parent*/, void* connection, CRYPTO_EX_DATA* /*data*/, int /*index*/,
                     long /*argl*/, void* /*argp*/) {
  delete static_cast<Connection*>(connection);
}

int connection_index() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, free_connection);
  return index;
}

bool is_address(const std::string& host) {
  ASN1_OCTET_STRING* const bytes = a2i_IPADDRESS(host.c_str());
  ASN1_OCTET_STRING_free(bytes);
  return bytes != nullptr;
}

std::unique_ptr<Connection> connection_of(int fd) {
  auto connection = std::make_unique<Connection>();
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  auto* const generic = reinterpret_cast<sockaddr*>(&peer);
  if (getpeername(fd, generic, &size) != 0 ||
      getnameinfo(generic, size, host.data(), host.size(), port.data(), port.size(),
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return connection;
  connection->address = fmt::format("{}:{}", host.data(), port.data());
  connection->servers = tls()->servers_at(host.data(), std::atoi(port.data()));
  return connection;
}

/// The connection of an SSL, made with the first call; also tells the server which name is meant.
Connection& connection_of(SSL* ssl) {
  if (auto* const known = SSL_get_ex_data(ssl, connection_index()))
    return *static_cast<Connection*>(known);
  auto fresh = connection_of(SSL_get_fd(ssl));
  if (!fresh->servers.empty() && !is_address(fresh->servers.front().host))
    SSL_set_tlsext_host_name(ssl, fresh->servers.front().host.c_str());
  SSL_set_ex_data(ssl, connection_index(), fresh.get());
  return *fresh.release();
}

/// Takes note of a failure; what OpenSSL's functions return for one, for which it wants a reason.
int failed(const Connection& connection, const std::string& why, bool lasting = true) {
  tls()->note_failure(connection.servers, why, lasting);
  if (ERR_peek_error() == 0) ERR_raise(ERR_LIB_USER, ERR_R_OPERATION_FAIL);
  errno = ECONNABORTED;
  return -1;
}

bool is_for(X509* certificate, const std::string& host) {
  return is_address(host) ? X509_check_ip_asc(certificate, host.c_str(), 0) == 1
                          : X509_check_host(certificate, host.c_str(), 0, 0, nullptr) == 1;
}

/// The first names in a certificate. They are an impostor's perhaps: no byte reaches a terminal.
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

/// Why the server is not the one that is meant; empty: it is.
std::string wrong_name(SSL* ssl, const Connection& connection) {
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

/// Whether the server just hung up, by OpenSSL's record.
bool was_left() {
  const auto error = ERR_peek_last_error();
  return error == 0 || ERR_GET_LIB(error) == ERR_LIB_SYS ||
         (ERR_GET_LIB(error) == ERR_LIB_SSL &&
          ERR_GET_REASON(error) == SSL_R_UNEXPECTED_EOF_WHILE_READING);
}

/// What went wrong, from OpenSSL's record of it, which stays.
std::string failure_text(SSL* ssl) {
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

/// As read(2) tells it to the C client, which looks at errno alone.
int told_as_errno(SSL* ssl, int result) {
  if (result > 0) return result;
  const int kind = SSL_get_error(ssl, result);
  if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE) {
    errno = EAGAIN;
    return -1;
  }
  if (kind == SSL_ERROR_ZERO_RETURN) return 0;
  auto& connection = connection_of(ssl);
  // Since TLS 1.3 a server judges the client's certificate when the client thinks all is well.
  if (!connection.spoke && kind == SSL_ERROR_SSL)
    return failed(connection, failure_text(ssl), !was_left());
  errno = ECONNRESET;
  return -1;
}

}  // namespace

void hang_up_handshakes() { ++hang_ups; }

}  // namespace zksh

SSL_CTX* zksh_tls_context() {
  SSL_CTX* const context = zksh::tls()->context();
  SSL_CTX_up_ref(context);
  return context;
}

int zksh_tls_connect(SSL* ssl) {
  using namespace zksh;
  auto& connection = connection_of(ssl);
  unread_on = -1;
  ERR_clear_error();
  const int result = SSL_connect(ssl);
  if (result == 1) {
    const auto wrong = wrong_name(ssl, connection);
    return wrong.empty() ? result : failed(connection, wrong);
  }
  const int kind = SSL_get_error(ssl, result);
  if (kind != SSL_ERROR_WANT_READ && kind != SSL_ERROR_WANT_WRITE)
    return failed(connection, failure_text(ssl), !was_left());
  if (Clock::now() - connection.begun > longest_handshake)
    return failed(connection,
                  "TLS: the server does not answer the handshake; is this its TLS "
                  "port?");
  if (connection.hang_ups_before != hang_ups) ERR_raise(ERR_LIB_USER, ERR_R_OPERATION_FAIL);
  return result;
}

int zksh_tls_read(SSL* ssl, void* buffer, int size) {
  ERR_clear_error();
  const int result = SSL_read(ssl, buffer, size);
  zksh::unread_on = SSL_pending(ssl) > 0 ? SSL_get_fd(ssl) : -1;
  if (result > 0) {
    auto& connection = zksh::connection_of(ssl);
    if (!std::exchange(connection.spoke, true)) zksh::tls()->note_success(connection.servers);
  }
  return zksh::told_as_errno(ssl, result);
}

int zksh_tls_write(SSL* ssl, const void* bytes, int size) {
  ERR_clear_error();
  return zksh::told_as_errno(ssl, SSL_write(ssl, bytes, size));
}

int zksh_tls_poll(pollfd* sockets, nfds_t count, int timeout_ms) {
  pollfd* const end = sockets + count;
  pollfd* const unread = std::find_if(sockets, end, [](const pollfd& socket) {
    return socket.fd >= 0 && socket.fd == zksh::unread_on && (socket.events & POLLIN) != 0;
  });
  const int ready = poll(sockets, count, unread == end ? timeout_ms : 0);
  if (unread == end) return ready;
  unread->revents |= POLLIN;
  return std::max(ready, 1);
}
