// WatchCounts: how many watch events the servers have fired, by their own count.
#pragma once

#include "base/monitor.h"
#include "ensemble/admin_server.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace zksh {

/// What the servers of an ensemble say since each was started, everybody's watches together.
/// Source: the counters node_(created|deleted|changed|children)_watch_count and watch_count of
/// mntr, ZooKeeper 3.6 and later (ServerMetrics.java, WatchManager.java): each change that fires
/// watches adds one to a counter, and the number of watches to its sum.
struct WatchCounts {
  std::int64_t fired = 0;    ///< watches
  std::int64_t changes = 0;  ///< that fired at least one, counted by each server for itself
  std::int64_t most = 0;     ///< that one change fired on one server
  std::int64_t set = 0;      ///< watches that wait now
  std::size_t servers = 1;   ///< whose counts these are
};

/// What was counted between two times.
struct WatchCountsBetween {
  std::int64_t fired = 0;
  std::int64_t left = 0;  ///< more watches are set than before; not below 0
  /// The most that one change fired; nothing when that cannot be told: a larger number was counted
  /// before, or each of several servers has counted only its own clients' watches.
  std::optional<std::int64_t> most{};
};
WatchCountsBetween between(const WatchCounts& before, const WatchCounts& after);

/// The sums over one server's answer to mntr; nothing when it does not have the counters.
std::optional<WatchCounts> parse_watch_counts(const std::string& mntr);

/// Asks every server of a connect string, or its AdminServer. Nothing when one of them does not
/// tell: then `why` says so, for the user. Blocks for the time until the deadline, twice that where
/// AdminServers are asked, and while names resolve.
std::optional<WatchCounts> ask_watch_counts(const std::string& connect_string,
                                            const AdminServers& admin_servers,
                                            Clock::time_point deadline, std::string& why);

}  // namespace zksh
