// ExclusiveLock: the simplest lock: whoever creates the node holds it.
#pragma once

#include "recipes/lock_nodes.h"
#include "recipes/lock_requests.h"

#include <string>

namespace zksh {

/// An exclusive lock made of one ephemeral node, PATH/lock. All contenders race to create it; the
/// losers watch it and race again when it is gone. Unfair: there is no queue, and every release
/// wakes everyone. Only zksh knows this recipe; contenders of the other recipes do not see it, so
/// if there are any, this throws LockBusy.
class ExclusiveLock final : public Recipe {
 public:
  /// `client`, `fiber` and `report` must outlive it. Throws UsageError if a shared lock is
  /// requested.
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
  std::string reported_holder_;  ///< the holder last reported to the user
};

}  // namespace zksh
