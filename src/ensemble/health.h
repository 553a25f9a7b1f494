// Health: what the answers of an ensemble's servers come to: who serves, who leads, who lags.
#pragma once

#include "ensemble/member_words.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// What one server says of itself. What it does not tell is missing. Texts are untrusted.
/// Source: srvr and mntr of ZooKeeper 3.4 to 3.9 (ServerStats, ZooKeeperServer.dumpMonitorValues).
struct MemberHealth {
  std::string name;
  std::optional<std::int64_t> id{};
  bool asked = true;      ///< false: its address is not known
  bool answers = false;   ///< something, if only that it does not serve
  std::string problem{};  ///< why it does not serve; empty when it does
  std::string note{};     ///< what it may not tell
  std::string role{};  ///< leader, follower, observer, standalone, read-only; empty: does not serve
  std::string version{};                 ///< "3.8.0"
  std::optional<std::int64_t> zxid{};    ///< of the last transaction that it has seen
  std::optional<std::int64_t> behind{};  ///< transactions of this epoch that it has not seen
  std::optional<std::int64_t> mean_latency_us{};  ///< of requests, since it was started
  std::optional<std::int64_t> max_latency_us{};
  std::optional<std::int64_t> connections{};  ///< those over which it was asked among them
  std::optional<std::int64_t> outstanding{};  ///< requests
  std::optional<std::int64_t> nodes{};
  std::optional<std::int64_t> watches{};
  std::optional<std::int64_t> synced_followers{};  ///< of a leader: those that vote
  std::optional<std::int64_t> pending_syncs{};     ///< of a leader
  std::optional<std::int64_t> open_files{};
  std::optional<std::int64_t> max_files{};

  bool serves() const { return problem.empty() && asked && !role.empty() && role != "read-only"; }
  bool votes() const { return role == "leader" || role == "follower"; }
};

/// What read_health wants to have been asked, in this order.
std::vector<std::string> health_words();
/// `member`: its answers to health_words.
MemberHealth read_health(const MemberAnswers& member);

/// What makes a server that serves a problem; nothing: no limit.
struct HealthLimits {
  std::optional<std::int64_t> behind{};
  std::optional<std::int64_t> outstanding{};
  std::optional<std::int64_t> latency_ms{};  ///< the mean
};

enum class Verdict { Healthy, Degraded, NoQuorum };

struct Health {
  Verdict verdict = Verdict::Healthy;
  std::string summary{};  ///< one line, without the verdict
  std::vector<std::string> problems{};
  std::vector<std::string> notes{};  ///< that change nothing
  std::vector<MemberHealth> members{};
  std::string leader{};  ///< its name; empty: none answers, or none is needed
  std::size_t voters = 0;
  std::size_t quorum = 0;  ///< how many voters must serve; 1 of servers that stand alone
  std::size_t serving = 0;
  std::optional<std::int64_t> synced_followers{};
};

/// "healthy", "degraded", "no quorum".
std::string_view verdict_name(Verdict verdict);

/// `membership`: as the servers tell, if they do. An ensemble is healthy when each member serves
/// and all followers are in sync with the leader; without a quorum when fewer voters serve than a
/// majority needs, or no leader answers although a server is silent that may be it.
Health judge(std::vector<MemberHealth> members, const std::optional<Membership>& membership,
             const HealthLimits& limits);

}  // namespace zksh
