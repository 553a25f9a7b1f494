// SocketInterposer: intercepts the C client's socket calls, and ends a connection whose server
// sends what the C client could not handle (WireLink).
//
// Two functions here replace the C library's send and recv, since the C client has no hook for
// this. Only the sockets of its sessions are affected. TLS connections go through library/tls_calls
// instead.
#pragma once

#include <string>
#include <string_view>

namespace zksh {

class WireLink;

/// What was wrong with the last answer that was refused, or never arrived, for the user; empty if
/// nothing was, or a request has been answered since. From any thread.
std::string refused_answer();
/// Called by HandshakeTimeout when it ends a connection for lack of an answer.
void note_unanswered();

/// Records bytes sent on the connection with this socket. Like refuse_received, tells
/// HandshakeTimeout whether a connect response is awaited; both are called on the connection's
/// thread.
void note_sent(WireLink& link, int fd, std::string_view bytes);

/// Whether received bytes must be kept from the C client; errno is then EBADMSG, and
/// refused_answer() gives the reason.
bool refuse_received(WireLink& link, int fd, std::string_view bytes);

}  // namespace zksh
