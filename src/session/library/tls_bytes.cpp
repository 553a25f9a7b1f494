// TLS bytes: read and written in place of the C client, and checked before it sees them.
#include "session/library/tls_bytes.h"

#include "session/library/tls.h"
#include "session/library/tls_calls.h"
#include "session/library/tls_connection.h"
#include "session/socket_interposer.h"

#include <algorithm>
#include <cerrno>
#include <openssl/err.h>
#include <string_view>
#include <utility>

namespace zksh {
namespace {

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

void forget_unread_bytes() { unread_on = -1; }

}  // namespace zksh

using namespace zksh;

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
