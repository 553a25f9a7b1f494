// ServersAccount: what servers tell of sessions and watches beyond what stands in the znodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

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

}  // namespace zksh
