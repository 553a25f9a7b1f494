// Four-letter words: a server's own account of itself, without a session.
#pragma once

#include "monitor.h"

#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// Sends a word (srvr, conf, …) to servers on 127.0.0.1, to all at once. The answers are in the
/// order of the ports; empty: nothing listens there, or there was no whole answer by the deadline.
std::vector<std::string> ask_servers(const std::vector<int>& ports, std::string_view word,
                                     Clock::time_point deadline);

/// The value in a line "Key: value" (srvr, mntr) or "key=value" (conf) of an answer, else empty.
std::string answer_field(std::string_view answer, std::string_view key);

}  // namespace zksh
