// Four-letter words: asks servers about themselves, without a session.
#pragma once

#include "base/monitor.h"
#include "client/connect_string.h"
#include "client/tls.h"

#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// A word (srvr, conf, cons, …) for a server, which closes the connection after its answer.
struct ServerQuestion {
  ServerAddress server;
  std::string word;        ///< or any other short request
  Tls* tls = zksh::tls();  ///< null: over a plain connection
  /// What the user calls the server: its certificate must be for one of these; empty: its host.
  std::vector<std::string> names{};
};

/// A server's answer. A server that does not allow the word says so in `text`; see is_refusal.
struct ServerAnswer {
  std::string text{};     ///< untrusted bytes; empty if there is a problem
  std::string problem{};  ///< why there is no complete answer, for the user: "Connection refused"
  bool turned_away = false;  ///< the problem is that it closed the connection without an answer
  /// Why the server's AdminServer, which was asked next, did not answer: "zk1:8080: Connection
  /// refused".
  std::string admin_problem{};
};

/// Limits of a request.
struct AskLimits {
  Clock::time_point deadline;
  std::size_t most_bytes = std::size_t{64} << 20U;          ///< per answer
  Clock::time_point connect_by = Clock::time_point::max();  ///< if earlier than the deadline
  std::stop_token stop{};
};

/// Sends all questions at once; returns the answers in the order of the questions. If a name has
/// several addresses, the first that accepts a connection is asked; the time is shared among them.
/// With TLS, servers' certificates are checked as those of sessions, and an answer without TLS's
/// own end is incomplete. Blocks; name look-ups may take longer than the deadline. Throws Cancelled
/// on a stop.
std::vector<ServerAnswer> inquire(const std::vector<ServerQuestion>& questions,
                                  const AskLimits& limits);

/// Sends the same word to servers on 127.0.0.1, by port, without TLS. As inquire, but returns only
/// the texts; empty if nothing listens there, or there was no complete answer by the deadline.
std::vector<std::string> ask_servers(const std::vector<int>& ports, std::string_view word,
                                     Clock::time_point deadline);

/// Whether an answer says that the server does not allow the word.
bool is_refusal(std::string_view answer);
/// Whether an answer says that the server is not serving requests: it is starting or has no quorum.
bool is_not_serving(std::string_view answer);

/// The value in a line "Key: value" (srvr), "key=value" (conf) or "key<TAB>value" (mntr) of an
/// answer; empty if there is none.
std::string answer_field(std::string_view answer, std::string_view key);

}  // namespace zksh
