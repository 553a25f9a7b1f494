// Health: evaluates the answers of an ensemble's servers: who serves, leads and lags.
#pragma once

#include "base/named_values.h"
#include "ensemble/member_words.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// What a server reports about itself. Unknown values are missing. Texts are untrusted. Source:
/// srvr and mntr of ZooKeeper 3.4 to 3.9 (ServerStats, ZooKeeperServer.dumpMonitorValues).
struct MemberHealth {
  std::string name;
  std::optional<std::int64_t> id{};
  bool member = true;             ///< false: the ensemble's configuration does not name it (judge)
  bool asked = true;              ///< false if its address is not known
  bool answers = false;           ///< it answers, if only that it does not serve
  std::string problem{};          ///< why it does not serve; empty if it does
  std::string note{};             ///< what it is not allowed to report
  std::optional<bool> session{};  ///< whether it has opened one; nullopt: none was tried
  std::string role{};  ///< leader, follower, observer, standalone, read-only; empty: does not serve
  std::string version{};                 ///< "3.8.0"
  std::optional<std::int64_t> zxid{};    ///< of the last transaction it has seen
  std::optional<std::int64_t> behind{};  ///< transactions of this epoch that it has not seen
  std::optional<std::int64_t> mean_latency_us{};  ///< of requests, since its start
  std::optional<std::int64_t> max_latency_us{};
  std::optional<std::int64_t> connections{};  ///< including those of these questions
  std::optional<std::int64_t> outstanding{};  ///< requests
  std::optional<std::int64_t> nodes{};
  std::optional<std::int64_t> watches{};
  std::optional<std::int64_t> synced_followers{};  ///< on a leader: voting followers in sync
  std::optional<std::int64_t> pending_syncs{};     ///< on a leader
  std::optional<std::int64_t> open_files{};
  std::optional<std::int64_t> max_files{};

  bool serves() const { return problem.empty() && asked && !role.empty() && role != "read-only"; }
  bool votes() const { return role == "leader" || role == "follower"; }
};

/// The words whose answers read_health needs, in this order.
std::vector<std::string> health_words();
/// `member` holds the answers to health_words.
MemberHealth read_health(const MemberAnswers& member);

/// Limits above which a serving server is a problem; nullopt: no limit.
struct HealthLimits {
  std::optional<std::int64_t> behind{};
  std::optional<std::int64_t> outstanding{};
  std::optional<std::chrono::microseconds> latency{};  ///< the mean
};

enum class Verdict { Healthy, Degraded, NoQuorum };
inline constexpr NamedValues<Verdict, 3> verdict_names{{{"healthy", Verdict::Healthy},
                                                        {"degraded", Verdict::Degraded},
                                                        {"no quorum", Verdict::NoQuorum}}};

struct Health {
  Verdict verdict = Verdict::Healthy;
  std::string summary{};  ///< one line, without the verdict
  std::vector<std::string> problems{};
  std::vector<std::string> notes{};  ///< that do not affect the verdict
  std::vector<MemberHealth> members{};
  std::string leader{};  ///< its name; empty: none answers, or none is needed
  std::size_t voters = 0;
  std::size_t quorum = 0;   ///< how many voters must serve; 1 for standalone servers
  std::size_t serving = 0;  ///< members
  std::optional<std::int64_t> synced_followers{};
};

/// Evaluates the members. `membership` is what the servers report, if they do; a server that it
/// does not name counts for nothing, but is noted: one that a reconfiguration has removed continues
/// to follow and to serve. An ensemble is healthy if each member serves and all followers are in
/// sync with the leader. It has no quorum if fewer than a majority of the voters serve, or if no
/// leader answers, although a silent server may be the leader.
Health judge(std::vector<MemberHealth> members, const std::optional<Membership>& membership,
             const HealthLimits& limits);

}  // namespace zksh
