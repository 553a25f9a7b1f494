// NearbyLocks: reads locks and their siblings, to find deadlocks.
#pragma once

#include "client/task.h"
#include "lock/view.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace zksh {

/// Servers cannot tell what a lock's contenders wait for elsewhere, but related locks are often
/// siblings. So this reads the given locks and, if there are few, those with the same parents.
/// Nothing is watched, requests are pipelined, and their number is limited: what is too large is
/// skipped. Contenders seen before are not read again. Used on one fiber.
class NearbyLocks {
 public:
  /// Both must outlive it.
  NearbyLocks(Client& client, Fiber& fiber) : client_(client), fiber_(fiber) {}

  /// Returns the queues in which somebody waits, without owner data. Skips what cannot be read or
  /// is gone. Throws Cancelled.
  Task<std::vector<LockView>> read(std::set<std::string> paths);

  static constexpr std::size_t most_parents = 4;
  static constexpr std::size_t most_siblings = 64;
  static constexpr std::size_t most_contenders = 1024;  ///< of all locks together

 private:
  Task<std::set<std::string>> with_siblings(std::set<std::string> paths);
  Task<std::vector<LockReading>> list(std::set<std::string> paths);
  Task<> fetch_sessions(std::vector<LockReading>& readings);

  Client& client_;
  Fiber& fiber_;
  std::map<std::string, std::int64_t> sessions_;  ///< by node, as last seen
};

}  // namespace zksh
