// HandshakeTimeout: how long a server that a session connects to may say nothing.
//
// Two functions of it take the place of the C library's connect and poll: ZooKeeper's C client has
// no other seam. A host that does not answer is given up after 3 s: all sockets are bounded so. A
// server that accepts the connection and leaves the request for a session without an answer loses
// it: the C client would wait for two thirds of the session timeout before it tries the next
// server, and some that are frozen, or were reached while they were starting, never say a word. Nor
// does it wait that long when a lock is at stake (WireConversation::give_up_at).
#pragma once

#include "base/time.h"

#include <optional>

namespace zksh {

/// Takes note, on the thread that reads and writes a session's socket, of whether the request for
/// the session was sent and not answered yet. The first time that lasts for 3 s at most, then twice
/// as long after each time that nobody answered: a slow ensemble answers in the end.
void note_greeting(int fd, bool awaited);

/// Takes note, on that thread, of when the connection is to be ended for want of another answer;
/// none: never. What has come by then is read first.
void note_deadline(int fd, std::optional<BootClock::time_point> deadline);

}  // namespace zksh
