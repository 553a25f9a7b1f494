// ToldSessions: what the servers of an ensemble tell of sessions: who is connected where, who owns
// which ephemeral, who watches what.
#pragma once

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
class ToldSessions {
 public:
  /// Asks for what the words tell: of cons, dump and wchc some. Blocks as ask_members. Throws
  /// Cancelled.
  ToldSessions(const AskedServers& asked, std::vector<std::string> words,
               std::chrono::milliseconds time, const std::stop_token& stop);
  ToldSessions(const ToldSessions&) = delete;
  ToldSessions& operator=(const ToldSessions&) = delete;
  ~ToldSessions() = default;

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

}  // namespace zksh
