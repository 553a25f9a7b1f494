// WireGuard: stands between ZooKeeper's C client and its sockets, and ends a connection whose
// server answers with what the C client could not bear (WireLink).
//
// Two functions of it take the place of the C library's recv and send: the C client has no other
// seam. All sockets but those of its sessions are left alone. Over TLS the bytes come another way,
// through session_library/tls_calls.
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

}  // namespace zksh
