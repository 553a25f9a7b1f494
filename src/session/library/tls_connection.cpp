// TlsConnection: found by its SSL, with failures as text.
#include "session/library/tls_connection.h"

#include "session/library/tls.h"

#include <fmt/core.h>

#include <array>
#include <cerrno>
#include <memory>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

namespace zksh {
namespace {

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

}  // namespace

bool is_certificate_address(const std::string& host) {
  ASN1_OCTET_STRING* const bytes = a2i_IPADDRESS(host.c_str());
  ASN1_OCTET_STRING_free(bytes);
  return bytes != nullptr;
}

TlsConnection& tls_connection(SSL* ssl) {
  if (auto* const known = SSL_get_ex_data(ssl, connection_index()))
    return *static_cast<TlsConnection*>(known);
  auto fresh = connection_over(SSL_get_fd(ssl));
  if (!fresh->servers.empty() && !is_certificate_address(fresh->servers.front().host))
    SSL_set_tlsext_host_name(ssl, fresh->servers.front().host.c_str());
  SSL_set_ex_data(ssl, connection_index(), fresh.get());
  return *fresh.release();
}

bool was_left() {
  const auto error = ERR_peek_last_error();
  return error == 0 || ERR_GET_LIB(error) == ERR_LIB_SYS ||
         (ERR_GET_LIB(error) == ERR_LIB_SSL &&
          ERR_GET_REASON(error) == SSL_R_UNEXPECTED_EOF_WHILE_READING);
}

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

int tls_failed(const TlsConnection& connection, const std::string& why, bool lasting) {
  tls()->note_failure(connection.servers, why, lasting);
  if (ERR_peek_error() == 0) ERR_raise(ERR_LIB_USER, ERR_R_OPERATION_FAIL);
  errno = ECONNABORTED;
  return -1;
}

}  // namespace zksh
