// Patient connection: waiting for a session for as long as it takes.
#pragma once

#include "client/client.h"

#include <stop_token>
#include <string>

namespace zksh {

/// As Client::await_connection, but goes on trying when no server answers: for one who has been
/// connected before, and waits for what may come in a day. Throws Cancelled, and ZkError when the
/// session was closed by the user or its credentials were refused.
void await_connection_patiently(Client& client, const std::string& path,
                                const std::stop_token& stop);

/// For one whose requests were lost on the way: blocks until they can be sent again. A server that
/// is started again is back in a second or two; after the session timeout, but ten seconds at least
/// and a minute at most, since `last_answer` there is no hope. Throws ZkError{connection_loss}
/// then, as await_connection_patiently otherwise.
void await_reconnection(Client& client, const std::string& path, Clock::time_point last_answer,
                        const std::stop_token& stop);

/// Whether a request failed because it could not be carried, not for what it asked.
bool is_connection_trouble(int code);

}  // namespace zksh
