// NearbyLocks: the queues of some locks and of those beside them, read for who waits for whom.
#pragma once

#include "client/task.h"
#include "lock/lock_manager.h"
#include "lock/lock_view.h"
#include "lock/own_locks.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace zksh {

/// What a lock's contenders wait for elsewhere no server tells; but locks often stand side by side.
/// So the locks that are asked for are read, and those with the same parents, where these are few.
/// Nothing is watched, requests are pipelined, and their number is bounded: what is too large is
/// left out. Of a contender that was seen before nothing is asked again. Used on one fiber.
class NearbyLocks {
 public:
  /// Both outlive it.
  NearbyLocks(Client& client, Fiber& fiber) : client_(client), fiber_(fiber) {}

  /// The queues in which somebody waits, without owners' data. What cannot be read, or is gone, is
  /// left out. Throws Cancelled.
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
  std::map<std::string, std::int64_t> sessions_;  ///< of the nodes that were seen last
};

/// Looks a second after a lock of this shell has begun to wait, or has got another one before it,
/// if the shell has a second lock that another may wait for; then again and again, ever less often.
/// What it finds is said once, and stands in LockStatus::circle. It sends a few dozen requests
/// (NearbyLocks) that no handoff waits for.
class CircleWatch {
 public:
  /// The locks that are not gone. Under the monitor.
  using Source = std::function<const OwnLocks&(const Monitor::Held&)>;

  /// All that is referred to outlives it.
  CircleWatch(Client& client, Source locks, const LockManager::Teller& teller);

  /// Its task, which does not end; for whoever drives the locks' fibers.
  Fiber& fiber() { return fiber_; }

 private:
  Task<> run();
  Task<> look();
  bool may_close(const Monitor::Held& held) const;
  std::string waits(const Monitor::Held& held) const;
  OwnLocks locks() const;
  void tell(Lock& lock, const LockCircle& circle) const;

  Client& client_;
  Monitor& monitor_;
  Source locks_;
  const LockManager::Teller& teller_;
  Fiber fiber_;
  NearbyLocks nearby_;
};

}  // namespace zksh
