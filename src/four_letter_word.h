// Four-letter words: a server's own account of itself, without a session.
#pragma once

#include "connect_string.h"
#include "monitor.h"

#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// A word (srvr, conf, cons, …) and the server that is asked.
struct ServerQuestion {
  ServerAddress server;
  std::string word;
};

/// Asks all at once. The answers are in the order of the questions; empty: nothing listens there,
/// or there was no whole answer by the deadline. A server that does not allow a word says so, see
/// is_refusal. Of a name's addresses the first that takes the connection is asked. Blocks; name
/// look-ups may take longer than the deadline.
std::vector<std::string> ask_servers(const std::vector<ServerQuestion>& questions,
                                     Clock::time_point deadline);
/// The same word to servers on 127.0.0.1, by their ports.
std::vector<std::string> ask_servers(const std::vector<int>& ports, std::string_view word,
                                     Clock::time_point deadline);

/// Whether an answer says that the word is not in the server's list of allowed ones.
bool is_refusal(std::string_view answer);

/// The value in a line "Key: value" (srvr), "key=value" (conf) or "key<TAB>value" (mntr) of an
/// answer, else empty.
std::string answer_field(std::string_view answer, std::string_view key);

}  // namespace zksh
