// WireGuard: stands between ZooKeeper's C client and its sockets, and ends a connection whose
// server answers with what the C client could not bear (WireAnswer).
//
// Two functions of it take the place of the C library's recv and send: the C client has no other
// seam. All sockets but those of its sessions are left alone, and so is TLS, whose bytes come
// another way.
#pragma once

#include <string>

namespace zksh {

/// What was wrong with the latest answer that was refused, for the user; empty: none was. From any
/// thread.
std::string refused_answer();

}  // namespace zksh
