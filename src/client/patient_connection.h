// Patient connection: waits for a connection beyond the connect timeout.
#pragma once

#include "base/monitor.h"

#include <stop_token>
#include <string>

namespace zksh {

class Client;

/// As Client::await_connection, but keeps trying while no server answers: for commands that were
/// connected before, and wait for what may happen tomorrow. Throws Cancelled, and ZkError if the
/// session was closed by the user or its authentication failed.
void await_connection_patiently(Client& client, const std::string& path,
                                const std::stop_token& stop);

/// Blocks until requests that were lost with the connection can be sent again. A restarted server
/// is back within seconds, so this gives up the session timeout (at least 10 s, at most a minute)
/// after `last_answer`, and throws ZkError{connection_loss}; otherwise throws as
/// await_connection_patiently.
void await_reconnection(Client& client, const std::string& path, Clock::time_point last_answer,
                        const std::stop_token& stop);

/// Whether a request failed because of the connection or the session, and not because of its
/// contents.
bool is_connection_failure(int code);

/// Whether a request that only reads can be sent again after this code: not if the session was
/// closed by this side, as `connect` does, since the next one may be with other servers.
bool is_repeatable_failure(int code);

}  // namespace zksh
