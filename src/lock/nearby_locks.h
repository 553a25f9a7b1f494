// NearbyLocks: reads locks and their siblings, to find deadlocks.
#pragma once

#include "client/task.h"
#include "lock/lock_manager.h"
#include "lock/lock_view.h"
#include "lock/own_locks.h"

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

/// Looks for deadlocks a second after a lock of this shell has started to wait, or has got another
/// contender before it, if the shell has a second lock that others may wait for; then repeatedly,
/// less and less often. Reports a deadlock once, and sets LockStatus::circle. Sends a few dozen
/// requests (NearbyLocks), which delay no handoff.
class CircleWatch {
 public:
  /// All references must outlive it.
  CircleWatch(Client& client, Guarded<OwnLocks>& locks, const LockReporter& reporter);

  /// The fiber of its task, which does not end; driven with those of the locks.
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
  Guarded<OwnLocks>& locks_;
  const LockReporter& reporter_;
  Fiber fiber_;
  NearbyLocks nearby_;
};

}  // namespace zksh
