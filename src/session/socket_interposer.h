// SocketInterposer: stands between ZooKeeper's C client and its sockets, and ends a connection
// whose server answers with what the C client could not bear (WireLink).
//
// Two functions of it take the place of the C library's send and recv: the C client has no other
// seam. All sockets but those of its sessions are left alone. Over TLS the bytes come another way,
// through library/tls_calls.
#pragma once

#include <string>
#include <string_view>

namespace zksh {

class WireLink;

/// What was wrong with the latest answer that was refused, or never came, for the user; empty:
/// nothing, or a request was answered since. From any thread.
std::string refused_answer();
/// For HandshakeTimeout: a connection is ended for want of an answer to a request.
void note_unanswered();

/// Takes note of bytes that the connection with this socket took. Like refuse_received it tells
/// HandshakeTimeout whether a greeting is awaited; both are called on the connection's thread.
void note_sent(WireLink& link, int fd, std::string_view bytes);

/// Whether bytes that came over the connection are to be kept from the C client: errno is EBADMSG
/// then, and refused_answer() says why.
bool refuse_received(WireLink& link, int fd, std::string_view bytes);

}  // namespace zksh
