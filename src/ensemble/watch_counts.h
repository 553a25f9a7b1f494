// WatchCounts: the watch events that servers have sent, by their own counters.
#pragma once

#include "base/monitor.h"
#include "ensemble/admin_server.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace zksh {

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
