// ServerPoller: what the servers tell of sessions, watches and themselves.
#pragma once

#include "base/monitor.h"
#include "client/connect_string.h"
#include "client/four_letter_word.h"
#include "ensemble/admin_server.h"
#include "ensemble/member_words.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace zksh {

/// What the servers tell beyond the znodes; each only when they do.
struct ServersAccount {
  std::map<std::int64_t, std::string> addresses{};   ///< of sessions
  bool all_addresses = false;                        ///< all servers told: no other is connected
  std::optional<std::set<std::int64_t>> sessions{};  ///< all that are alive
  std::optional<std::int64_t> watches{};             ///< on all servers that told
  std::size_t servers = 0;                           ///< that told of their watches
  /// Sessions by the whole path that they watch: when all servers told.
  std::optional<std::map<std::string, std::set<std::int64_t>>> watchers{};
  std::string no_watchers{};  ///< why watchers were asked for and are not there
  /// Events that the servers have sent for deleted nodes, and for changed lists of children, since
  /// they were asked first.
  struct Events {
    std::int64_t deleted = 0;
    std::int64_t children = 0;
  };
  std::optional<Events> events{};
};

/// Calls `use` for each line of a text, without its newline.
template <class Use>
void for_each_line(std::string_view text, Use&& use) {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    use(line);
  }
}

/// The session's id "0x100…" at the beginning of a text; nothing when there is none.
inline std::optional<std::int64_t> session_at(std::string_view text) {
  constexpr int hexadecimal = 16;
  if (!text.starts_with("0x")) return std::nullopt;
  std::uint64_t id = 0;
  const auto parsed = std::from_chars(text.data() + 2, text.data() + text.size(), id, hexadecimal);
  if (parsed.ec != std::errc()) return std::nullopt;
  return static_cast<std::int64_t>(id);
}

/// A client's connection, as a line of cons has it (ServerCnxn.dumpConnectionInfo). Untrusted.
struct Connection {
  std::int64_t session = 0;
  std::string address{};                  ///< of the client: "10.0.0.7:37520"
  std::string server{};                   ///< which server told it
  std::optional<std::int64_t> timeout{};  ///< of the session, in ms
  std::optional<std::int64_t> since{};    ///< in ms since 1970, by the server's clock
  std::string last_request{};             ///< "PING"
};
/// Connections without a session, such as those of four-letter words, are left out.
std::vector<Connection> parse_connections(std::string_view answer);

/// Paths by session; they point into the answer.
using SessionPaths = std::map<std::int64_t, std::vector<std::string_view>>;
/// The owners of ephemerals, alive or not, in an answer to dump (DataTree.dumpEphemerals).
SessionPaths parse_ephemerals(std::string_view answer);
/// Who watches what, in an answer to wchc (DataTree.dumpWatches): the watches of data, of
/// existence, and persistent ones; servers do not tell those of children.
SessionPaths parse_wchc(std::string_view answer);

/// A path of a session as the servers call it. `chroot`: of its connect string.
std::string whole_path(const std::string& chroot, const std::string& path);

/// All that the members of an ensemble say of sessions. Paths are whole, whatever the chroot.
/// Not copied: paths point into the answers that it keeps.
class SessionSurvey {
 public:
  /// Asks for what the words tell: of cons, dump and wchc some. Blocks as ask_members. Throws
  /// Cancelled.
  SessionSurvey(const AskedServers& asked, std::vector<std::string> words,
                std::chrono::milliseconds time, const std::stop_token& stop);
  SessionSurvey(const SessionSurvey&) = delete;
  SessionSurvey& operator=(const SessionSurvey&) = delete;
  ~SessionSurvey() = default;

  /// By session; one that has just moved to another server may be told by both: the newest.
  const std::map<std::int64_t, Connection>& connections() const { return connections_; }
  const std::map<std::int64_t, std::set<std::string_view>>& ephemerals() const {
    return ephemerals_;
  }
  /// What each session watches, by the server that told it.
  struct Watches {
    std::int64_t session = 0;
    std::string server{};
    std::vector<std::string_view> paths{};  ///< sorted
  };
  const std::vector<Watches>& watches() const { return watches_; }
  /// Whether a session is alive; nothing when nobody told.
  std::optional<bool> alive(std::int64_t session) const;
  /// "10.0.0.7:37520", or "-".
  std::string address_of(std::int64_t session) const;

  /// Whether some server has answered at all, if only that it may not.
  bool heard() const { return heard_; }
  /// Whether some server has answered this word.
  bool told(const std::string& word) const { return told_.contains(word); }
  /// "SERVER: why it did not tell something", for the user.
  const std::vector<std::string>& untold() const { return untold_; }

 private:
  void take(const std::string& server, const std::string& word, const std::string& text);

  EnsembleAnswers answers_;
  std::map<std::int64_t, Connection> connections_;
  std::map<std::int64_t, std::set<std::string_view>> ephemerals_;
  std::vector<Watches> watches_;
  std::set<std::int64_t> alive_;
  std::set<std::string> told_;
  bool sessions_told_ = false;  ///< by dump; AdminServers of followers do not
  std::vector<std::string> untold_;
  bool heard_ = false;
};

/// What is asked for.
struct ServerWishes {
  bool sessions = false;  ///< their addresses (cons), and which are alive (dump)
  bool watches = false;   ///< how many there are (wchs)
  bool watchers = false;  ///< who watches which node (wchp): slow where there are many watches
  bool events = false;    ///< how many watch events there were (mntr)
};

/// Servers that refuse a word, while no AdminServer tells, are not asked it again; those that do
/// not answer, not for a while.
class ServerPoller {
 public:
  /// `server`: a connect string. `admin_servers`: as the user names them. Throws ValueError.
  ServerPoller(const std::string& server, std::string_view admin_servers);

  const std::string& chroot() const { return chroot_; }
  /// Asks all servers at once. Blocks for at most a third of a second, twice that where
  /// AdminServers are asked (ask_words), or for as long as names take to resolve. What nobody tells
  /// is left out. Events are counted from the first time on.
  ServersAccount ask(const ServerWishes& wishes);

 private:
  struct Server {
    ServerAddress address;
    std::map<std::string, std::string> refused{};  ///< words, and why, for the user
    Clock::time_point silent_until{};
    std::optional<ServersAccount::Events> events{};  ///< as told last
  };
  void take(Server& server, const std::string& word, const ServerAnswer& told,
            ServersAccount& account);
  static void tell_not_told(const Server& server, const std::string& word, ServersAccount& account);
  void count_events(Server& server, std::string_view answer);

  AdminServers admin_servers_;
  std::vector<Server> servers_;
  std::string chroot_;
  ServersAccount::Events events_;
  bool events_told_ = false;
  std::size_t told_addresses_ = 0;  ///< servers, in the round that runs
};

/// The sessions in an answer to cons and the addresses of their clients, "10.0.0.7:51234".
std::map<std::int64_t, std::string> parse_cons(std::string_view answer);
/// The sessions in an answer to dump; empty: this server does not know them.
std::set<std::int64_t> parse_dump(std::string_view answer);
/// The sessions in an answer to wchp, by the path that they watch.
std::map<std::string, std::set<std::int64_t>> parse_wchp(std::string_view answer);

}  // namespace zksh
