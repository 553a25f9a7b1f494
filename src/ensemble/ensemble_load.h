// EnsembleLoad: what servers and their clients do between two looks at their counters.
#pragma once

#include "base/monitor.h"
#include "ensemble/member_words.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace zksh {

/// Counts are those between two looks. Unknown values are missing. Texts are untrusted.
struct ServerLoad {
  std::string name;
  std::optional<std::int64_t> id{};
  std::string role{};
  std::optional<std::int64_t> requests{};
  /// The mean of those requests; before 3.6, which has no such counters, since the server's start.
  std::optional<std::int64_t> latency_us{};
  std::optional<std::int64_t> connections{};
  std::optional<std::int64_t> watches{};
  std::string problem{};  ///< why it reports nothing, for the user
};

struct ClientLoad {
  std::string address{};
  std::int64_t session = 0;
  std::string server{};
  std::optional<std::int64_t> requests{};
  std::string last_request{};
  std::string ephemeral{};  ///< the path of its first one; empty: it has none, or it is not known
};

/// A node below /, with everything below it; ZooKeeper 3.6 and later.
struct NodeLoad {
  std::string path{};
  std::int64_t reads = 0;   ///< on all servers
  std::int64_t writes = 0;  ///< each server carries out all
};

struct EnsembleLoad {
  std::chrono::milliseconds interval{};  ///< since the look before; 0: there was none
  std::vector<ServerLoad> servers{};
  std::vector<ClientLoad> clients{};  ///< the busiest first
  std::vector<NodeLoad> nodes{};      ///< likewise; without those that nobody used
};

/// Remembers the counters of the last look. A counter that is less than before, since somebody has
/// reset it or the server was restarted, has begun at 0 again.
class LoadMeter {
 public:
  /// The words whose answers `take` needs, in this order.
  static std::vector<std::string> words();
  /// `members`: their answers to words(), as of `now`. `names`: the first ephemerals of sessions.
  EnsembleLoad take(const std::vector<MemberAnswers>& members,
                    const std::map<std::int64_t, std::string>& names, Clock::time_point now);

 private:
  /// How much a counter has grown; nullopt if it was not known, unless it is `fresh`: it began at 0
  /// since the last look.
  std::optional<std::int64_t> growth(const std::string& counter, std::optional<std::int64_t> value,
                                     bool fresh = false);
  ServerLoad server_load(const MemberAnswers& member);
  void add_clients(const MemberAnswers& member, const std::map<std::int64_t, std::string>& names,
                   std::vector<ClientLoad>& clients);
  void add_nodes(const MemberAnswers& member, std::map<std::string, NodeLoad>& nodes);

  std::map<std::string, std::int64_t> before_;
  std::map<std::string, std::int64_t> now_;
  std::optional<Clock::time_point> looked_{};
};

/// The first ephemeral of each session, from the answers to dump.
std::map<std::int64_t, std::string> first_ephemerals(const std::vector<ServerAnswer>& dumps);

}  // namespace zksh
