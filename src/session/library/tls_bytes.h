// TLS bytes: what comes and goes over a connection that has had its handshake.
#pragma once

namespace zksh {

/// This thread's connection is a new one: nothing of it can be unread.
void forget_unread_bytes();

}  // namespace zksh
