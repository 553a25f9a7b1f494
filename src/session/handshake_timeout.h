// HandshakeTimeout: limits how long a server may take to accept a connection and answer.
//
// Two functions here replace the C library's connect and poll, since ZooKeeper's C client has no
// hook for this. A host that does not respond is given up after 3 s; this applies to all sockets. A
// server that accepts a connection but does not answer the connect request is left as well. The C
// client would wait for two thirds of the session timeout before trying the next server, and
// servers that are frozen, or were reached while starting, never answer. It also waits too long
// when a lock is at stake (WireConversation::give_up_at).
#pragma once

#include "base/time.h"

#include <optional>

namespace zksh {

/// Records whether the connect request on this socket has been sent and not answered yet. Called on
/// the thread that reads and writes the socket. The first time, the answer may take 3 s, then twice
/// as long after each time that nobody answered: a slow ensemble answers in the end.
void note_greeting(int fd, bool awaited);

/// Sets when to end the connection unless another answer arrives; nullopt: never. Called on that
/// thread. Answers that have arrived by then are read first.
void note_deadline(int fd, std::optional<BootClock::time_point> deadline);

}  // namespace zksh
