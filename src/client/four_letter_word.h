// Four-letter words: a server's own account of itself, without a session.
#pragma once

#include "base/monitor.h"
#include "client/connect_string.h"

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// A word (srvr, conf, cons, …) and the server that is asked.
struct ServerQuestion {
  ServerAddress server;
  std::string word;  ///< or anything short that is sent
  /// Whether what has come so far is a whole answer, though the connection stays; none: an answer
  /// ends with the connection.
  std::function<bool(std::string_view)> whole{};
};

/// What came back. A server that does not allow a word says so in the text, see is_refusal.
struct ServerAnswer {
  std::string text{};        ///< untrusted bytes; empty when there is a problem
  std::string problem{};     ///< why there is no whole answer, for the user: "Connection refused"
  bool turned_away = false;  ///< the problem: it closes the connection without an answer
  /// Why its AdminServer, which was asked then, has not answered: "zk1:8080: Connection refused".
  std::string admin_problem{};
};

/// What bounds the asking.
struct AskLimits {
  Clock::time_point deadline;
  std::size_t most_bytes = std::size_t{64} << 20U;          ///< of one answer
  Clock::time_point connect_by = Clock::time_point::max();  ///< if that is before the deadline
  std::stop_token stop{};
};

/// Asks all at once. The answers are in the order of the questions. Of a name's addresses the first
/// that takes the connection is asked; each gets its share of the time. Blocks; name look-ups may
/// take longer than the deadline. Throws Cancelled on a stop.
std::vector<ServerAnswer> inquire(const std::vector<ServerQuestion>& questions,
                                  const AskLimits& limits);

/// As inquire; an answer is empty when nothing listens there, or there was no whole one by the
/// deadline.
std::vector<std::string> ask_servers(const std::vector<ServerQuestion>& questions,
                                     Clock::time_point deadline);
/// The same word to servers on 127.0.0.1, by their ports.
std::vector<std::string> ask_servers(const std::vector<int>& ports, std::string_view word,
                                     Clock::time_point deadline);

/// Whether an answer says that the word is not in the server's list of allowed ones.
bool is_refusal(std::string_view answer);
/// Whether an answer says that the server runs, but serves nobody: it starts, or has no quorum.
bool is_not_serving(std::string_view answer);

/// The value in a line "Key: value" (srvr), "key=value" (conf) or "key<TAB>value" (mntr) of an
/// answer, else empty.
std::string answer_field(std::string_view answer, std::string_view key);

}  // namespace zksh
