// ExclusiveLock: the simplest lock: whoever makes the one node holds it.
#pragma once

#include "recipes/lock_nodes.h"
#include "recipes/lock_requests.h"

#include <string>

namespace zksh {

/// An exclusive lock by one ephemeral node, PATH/lock: all race to create it, and who loses watches
/// it and races again when it is gone. Unfair: it is no queue, and every release wakes everyone.
/// Only zksh knows it; the contenders of the other recipes do not see it, and where there are some
/// when it is asked for it is LockBusy.
class ExclusiveLock final : public Recipe {
 public:
  /// `client`, `fiber` and `report` outlive it. Throws UsageError when readers are asked for.
  ExclusiveLock(Client& client, Fiber& fiber, const LockReport& report, LockRequest request);

  Task<> acquire(Clock::time_point deadline) override;
  Task<bool> release() override;
  Task<> downgrade() override;
  const LockHolding& holding() const override { return nodes_.holding(); }

 private:
  Task<> contend();
  Task<> look_first();
  Task<> await_end();
  Task<> give_up();

  LockRequests requests_;
  const LockReport& report_;
  LockRequest request_;
  std::string node_;
  LockNodes nodes_;
  LockWatch watch_;
  std::string told_;  ///< whom the user knows to be waited for
};

}  // namespace zksh
