// WireGuard: stands between ZooKeeper's C client and its sockets, and ends a connection whose
// server answers with what the C client could not bear (WireLink).
//
// It also ends a connection over which nobody answers the request for a session: the C client would
// wait for two thirds of the session timeout before it tries the next server. Some servers that are
// frozen, or were reached while they were starting, accept connections and never say a word.
//
// Four functions of it take the place of the C library's recv, send, poll and connect: the C client
// has no other seam. All sockets but those of its sessions are left alone, but for the time that a
// host may be silent when it is connected to: 3 s. Over TLS the bytes come another way, through
// session_library/tls_calls.
#pragma once

#include <cstddef>
#include <string>

namespace zksh {

class WireLink;

/// What was wrong with the latest answer that was refused, for the user; empty: none was. From any
/// thread.
std::string refused_answer();

/// Whether bytes that came over a connection are to be kept from the C client: errno is EBADMSG
/// then, and refused_answer() says why.
bool refuse_flawed(WireLink& link, const void* bytes, std::size_t size);

/// Takes note, on the thread that reads and writes a session's socket, of whether the request for
/// the session was sent and not answered yet. The first time that lasts for 3 s at most, then twice
/// as long after each time that nobody answered: a slow ensemble answers in the end.
void note_greeting(int fd, bool awaited);

}  // namespace zksh
