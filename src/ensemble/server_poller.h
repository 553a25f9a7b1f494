// ServerPoller: asks servers about sessions, watches and watch events, once or repeatedly.
#pragma once

#include "base/monitor.h"
#include "client/connect_string.h"
#include "client/four_letter_word.h"
#include "ensemble/admin_server.h"
#include "ensemble/member_words.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// What servers report beyond the znodes; each part may be missing.
struct ServersAccount {
  std::map<std::int64_t, std::string> addresses{};  ///< of sessions
  bool all_addresses = false;  ///< all servers answered: no other session is connected
  std::optional<std::set<std::int64_t>> sessions{};  ///< all live sessions
  /// When live sessions expire unless their clients are heard from, as far as servers say, and as
  /// they write it: "12:17:38 UTC".
  std::map<std::int64_t, std::string> expiries{};
  std::optional<std::int64_t> watches{};  ///< their number on all servers that answered
  std::size_t servers = 0;                ///< that reported their watches
  /// Sessions by the full path that they watch; only if all servers answered.
  std::optional<std::map<std::string, std::set<std::int64_t>>> watchers{};
  std::string no_watchers{};       ///< why watchers are missing although requested
  std::set<std::string> silent{};  ///< servers that did not answer in time
  /// Events for deleted nodes and for changed lists of children that the servers have sent since
  /// they were first asked.
  struct Events {
    std::int64_t deleted = 0;
    std::int64_t children = 0;
  };
  std::optional<Events> events{};
};

/// A client's connection, from a line of cons (ServerCnxn.dumpConnectionInfo). Untrusted.
struct Connection {
  std::int64_t session = 0;
  std::string address{};                   ///< the client's: "10.0.0.7:37520"
  std::string server{};                    ///< the server that reported it
  std::optional<std::int64_t> timeout{};   ///< of the session, in ms
  std::optional<std::int64_t> since{};     ///< in ms since 1970, by the server's clock
  std::string last_request{};              ///< "PING"
  std::optional<std::int64_t> received{};  ///< requests on this connection
};
/// Parses an answer to cons. Leaves out connections without a session, such as those of four-letter
/// words.
std::vector<Connection> parse_connections(std::string_view answer);

/// Paths by session; they point into the answer.
using SessionPaths = std::map<std::int64_t, std::vector<std::string_view>>;
/// The owners of ephemerals, live or not, in an answer to dump (DataTree.dumpEphemerals).
SessionPaths parse_ephemerals(std::string_view answer);
/// The watches in an answer to wchc (DataTree.dumpWatches): data, exists and persistent watches;
/// servers do not report children watches.
SessionPaths parse_wchc(std::string_view answer);

/// What the members of an ensemble report about sessions, asked once. Paths are full paths,
/// whatever the chroot. Not copyable: paths point into the answers that it keeps.
class SessionSurvey {
 public:
  /// Asks the given words, some of cons, dump and wchc. Blocks as ask_members. Throws Cancelled.
  SessionSurvey(const ServersToAsk& asked, std::vector<std::string> words,
                std::chrono::milliseconds time, const std::stop_token& stop);
  SessionSurvey(const SessionSurvey&) = delete;
  SessionSurvey& operator=(const SessionSurvey&) = delete;
  ~SessionSurvey() = default;

  /// By session. Two servers may report a session that has just moved; this has the newer one.
  const std::map<std::int64_t, Connection>& connections() const { return connections_; }
  const std::map<std::int64_t, std::set<std::string_view>>& ephemerals() const {
    return ephemerals_;
  }
  /// The watches of a session on one server.
  struct Watches {
    std::int64_t session = 0;
    std::string server{};
    std::vector<std::string_view> paths{};  ///< sorted
  };
  const std::vector<Watches>& watches() const { return watches_; }
  /// Whether a session is alive; nullopt if no server reported it.
  std::optional<bool> alive(std::int64_t session) const;
  /// "10.0.0.7:37520", or "-" if not known.
  std::string address_of(std::int64_t session) const;

  /// Whether any server answered at all, even if only with a refusal.
  bool any_answered() const { return any_answered_; }
  /// Whether any server answered this word.
  bool answered(const std::string& word) const { return answered_words_.contains(word); }
  /// "SERVER: why it did not answer", for the user.
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  void add_answer(const std::string& server, const std::string& word, const std::string& text);

  EnsembleAnswers answers_;
  std::map<std::int64_t, Connection> connections_;
  std::map<std::int64_t, std::set<std::string_view>> ephemerals_;
  std::vector<Watches> watches_;
  std::set<std::int64_t> alive_;
  std::set<std::string> answered_words_;
  bool sessions_known_ = false;  ///< by dump; AdminServers of followers do not report them
  std::vector<std::string> failures_;
  bool any_answered_ = false;
};

/// What to ask for.
struct ServerTopics {
  bool sessions = false;  ///< their addresses (cons), and which are alive (dump)
  bool watches = false;   ///< how many there are (wchs)
  bool watchers = false;  ///< who watches which node (wchp): slow if there are many watches
  bool events = false;    ///< how many watch events there were (mntr)
};

/// Asks servers repeatedly. Does not repeat a word that a server refused and no AdminServer
/// answered; does not ask silent servers for a while.
class ServerPoller {
 public:
  /// `server` is a connect string; `admin_servers` as in AdminServers. Throws ValueError.
  ServerPoller(const std::string& server, std::string_view admin_servers, std::stop_token stop);

  const std::string& chroot() const { return chroot_; }
  /// Asks all servers at once. `round_trip`: Client::round_trip. Blocks for at most a second and
  /// four round trips, twice that if AdminServers are asked (ask_words), plus name look-ups. What
  /// no server reports is missing. Events are counted from the first call on. Throws Cancelled on a
  /// stop.
  ServersAccount ask(const ServerTopics& topics,
                     std::optional<std::chrono::nanoseconds> round_trip);
  /// Asks for the watchers too if all servers have reported their watches, and these are at most
  /// `most`. Blocks as long again.
  void add_watchers(ServersAccount& account, std::int64_t most);

 private:
  void ask_all(const std::vector<std::string>& words, ServersAccount& account);
  struct Server {
    ServerAddress address;
    std::map<std::string, std::string> refused{};  ///< words, with the reasons for the user
    Clock::time_point silent_until{};
    std::optional<ServersAccount::Events> events{};  ///< as last reported
  };
  void read_answer(Server& server, const std::string& word, const ServerAnswer& reply,
                   ServersAccount& account);
  static void note_missing(const Server& server, const std::string& word, ServersAccount& account);
  void count_events(Server& server, std::string_view answer);

  AdminServers admin_servers_;
  std::stop_token stop_;
  Clock::duration patience_{};
  std::vector<Server> servers_;
  std::string chroot_;
  ServersAccount::Events events_;
  bool events_known_ = false;
  std::size_t servers_with_sessions_ = 0;  ///< servers that answered in the current round
};

/// The sessions in an answer to dump; empty: this server does not know them.
std::set<std::int64_t> parse_dump(std::string_view answer);
/// When they expire, as ServersAccount::expiries. Source: ExpiryQueue.dump in ZooKeeper 3.5 and
/// later, which writes a Date before the sessions.
std::map<std::int64_t, std::string> parse_expiries(std::string_view answer);
/// The sessions in an answer to wchp, by the path that they watch.
std::map<std::string, std::set<std::int64_t>> parse_wchp(std::string_view answer);

/// The totals of an ensemble's servers since each was started, for all clients' watches. Source:
/// the counters node_(created|deleted|changed|children)_watch_count and watch_count in mntr of
/// ZooKeeper 3.6 and later (ServerMetrics.java, WatchManager.java). Each change that fires watches
/// adds one to a counter, and the number of watches to its sum.
struct WatchCounts {
  std::int64_t fired = 0;    ///< watches fired
  std::int64_t changes = 0;  ///< that fired at least one watch, counted by each server separately
  std::int64_t most = 0;     ///< most watches fired by one change on one server
  std::int64_t set = 0;      ///< watches currently set
  std::size_t servers = 1;   ///< number of servers counted
};

/// The difference of two counts.
struct WatchCountsBetween {
  std::int64_t fired = 0;
  std::int64_t left = 0;  ///< how many more watches are set than before; not below 0
  /// The most watches fired by one change; nullopt if that cannot be told, because there was a
  /// greater number before, or because each of several servers counts only its own clients'
  /// watches.
  std::optional<std::int64_t> most{};
};
WatchCountsBetween between(const WatchCounts& before, const WatchCounts& after);

/// The sums in a server's answer to mntr; nullopt if it lacks the counters.
std::optional<WatchCounts> parse_watch_counts(const std::string& mntr);

/// Asks all servers of a connect string, or their AdminServers. nullopt if one of them does not
/// report the counters; `why` then says so, for the user. Blocks until the deadline at most, twice
/// that time if AdminServers are asked, plus name look-ups.
std::optional<WatchCounts> ask_watch_counts(const std::string& connect_string,
                                            const AdminServers& admin_servers,
                                            Clock::time_point deadline, std::string& why);

}  // namespace zksh
