// SocketInterposer: intercepts the C client's socket calls. Ends a connection whose server sends
// what the C client could not handle (WireLink), or stays silent for too long.
//
// Four functions here replace the C library's send, recv, connect and poll, since the C client has
// no hook for this. send and recv affect only the sockets of its sessions. TLS connections go
// through library/tls_calls instead. send also lets a frame's length, which the C client sends by
// itself, wait for the frame, so that a request is mostly one packet.
//
// How long a server may stay silent:
//
//  - A host that does not respond is given up after 3 s; this applies to all sockets.
//  - A server that accepts a connection but does not answer the connect request is left after 3 s,
//    then after twice as long each time that nobody answered: a slow ensemble answers in the end.
//    The C client would wait for two thirds of the session timeout before trying the next server,
//    and servers that are frozen, or were reached while starting, never answer.
//  - Other requests must be answered by WireConversation::give_up_at. Answers that have arrived by
//    then are read first.
#pragma once

#include <string>
#include <string_view>

namespace zksh {

class WireLink;

/// What was wrong with the last answer that was refused, or never arrived, for the user; empty if
/// nothing was, or a request has been answered since. From any thread.
std::string refused_answer();

/// Records bytes sent on the connection with this socket. Like refuse_received, called on the
/// thread that reads and writes the connection; each of the C client's threads has at most one.
void note_sent(WireLink& link, int fd, std::string_view bytes);

/// Whether received bytes must be kept from the C client; errno is then EBADMSG, and
/// refused_answer() gives the reason.
bool refuse_received(WireLink& link, int fd, std::string_view bytes);

}  // namespace zksh
