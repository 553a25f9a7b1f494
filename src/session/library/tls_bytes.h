// TLS bytes: reading and writing a TLS connection after its handshake.
#pragma once

namespace zksh {

/// This thread has a new connection, which has no unread bytes.
void forget_unread_bytes();

}  // namespace zksh
