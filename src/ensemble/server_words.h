// ServerWords: what the servers of a connect string tell of sessions and watches, where they are
// allowed to.
#pragma once

#include "base/monitor.h"
#include "client/connect_string.h"
#include "client/four_letter_word.h"
#include "ensemble/admin_servers.h"
#include "ensemble/servers_account.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zksh {

/// What is asked for.
struct ServerWishes {
  bool sessions = false;  ///< their addresses (cons), and which are alive (dump)
  bool watches = false;   ///< how many there are (wchs)
  bool watchers = false;  ///< who watches which node (wchp): slow where there are many watches
  bool events = false;    ///< how many watch events there were (mntr)
};

/// Servers that refuse a word, while no AdminServer tells, are not asked it again; those that do
/// not answer, not for a while.
class ServerWords {
 public:
  /// `server`: a connect string. `admin_servers`: as the user names them. Throws ValueError.
  ServerWords(const std::string& server, std::string_view admin_servers);

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
