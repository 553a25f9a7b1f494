// FairLock: ZooKeeper's lock recipe: contenders queue up, and each watches its predecessor.
#pragma once

#include "recipes/lock_nodes.h"
#include "recipes/lock_turn.h"

#include <string>

namespace zksh {

/// An exclusive lock, or one side of a read/write lock, made of ephemeral sequential nodes with a
/// guid in their names. With LockWait::Children, it has the herd effect, for teaching. Source:
/// ZooKeeper Recipes and Solutions, "Locks" and "Shared Locks"; names of Curator and kazoo.
class FairLock final : public Recipe {
 public:
  /// `client`, `fiber` and `report` must outlive it.
  FairLock(Client& client, Fiber& fiber, const LockReport& report, LockRequest request,
           LockWait wait = LockWait::Predecessor);

  Task<> acquire(Clock::time_point deadline) override;
  Task<bool> release() override;
  Task<> downgrade() override;
  const LockHolding& holding() const override { return nodes_.holding(); }

 private:
  Task<> contend();
  Task<> give_up();

  LockRequests requests_;
  const LockReport& report_;
  LockRequest request_;
  Compat names_;
  LockNodes nodes_;
  LockTurn turn_;
};

/// The nodes with which a contender with this guid joins the queue of a lock.
LockNodesPlan contender_plan(const LockRequest& request, Compat names, const std::string& guid);
/// Reports that other contenders do not recognise Curator's names.
void report_other_names(const LockReport& report, const std::string& path);

}  // namespace zksh
