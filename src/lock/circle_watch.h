// CircleWatch: looks whether what this shell waits for is kept from it by what it holds itself.
#pragma once

#include "lock/lock_table.h"
#include "lock/nearby_locks.h"
#include "lock/own_locks.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace zksh {

/// Looks a second after a lock of this shell has begun to wait, or has got another one before it,
/// if the shell has a second lock that another may wait for; then again and again, ever less often.
/// What it finds is said once, and stands in LockStatus::circle. It sends a few dozen requests
/// (NearbyLocks) that no handoff waits for.
class CircleWatch {
 public:
  /// The locks that are not gone. Under the monitor.
  using Source = std::function<const OwnLocks&(const Monitor::Held&)>;

  /// All that is referred to outlives it.
  CircleWatch(Client& client, Source locks, const LockTable::Teller& teller);

  /// Its flow, which does not end; for whoever drives the locks' strands.
  Strand& strand() { return strand_; }

 private:
  Flow<> run();
  Flow<> look();
  bool may_close(const Monitor::Held& held) const;
  std::string waits(const Monitor::Held& held) const;
  OwnLocks locks() const;
  void tell(Lock& lock, const LockCircle& circle) const;

  Client& client_;
  Monitor& monitor_;
  Source locks_;
  const LockTable::Teller& teller_;
  Strand strand_;
  NearbyLocks nearby_;
};

}  // namespace zksh
