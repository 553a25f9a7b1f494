// MultiLock: several locks at once, or none.
#pragma once

#include "recipes/lock_nodes.h"
#include "recipes/lock_requests.h"
#include "recipes/lock_turn.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zksh {

/// The exclusive locks of several paths. What fails gives all of them back, in reverse.
///
/// In order: one queue after the other, in the byte order of the paths, whatever order they are
/// given in. So no two contenders that go by it wait for each other.
/// Source: the ordering of resources, Havender 1968; Curator's InterProcessMultiLock, whose order
/// is that of its caller.
///
/// Atomic: one transaction joins all queues. So any two that do it stand in the same order in every
/// queue, and none waits for the other while that one waits for it.
///
/// The two kinds would wait for each other: one that goes in order holds /a and comes to /b, where
/// an atomic one is before it that waits for /a. Therefore the names of atomic contenders can be
/// told (see joins_many), and who goes in order and finds one before it gives everything back,
/// holds nothing until that one is gone, and begins anew.
class MultiLock final : public Recipe {
 public:
  /// `paths`: no two are the same; `request.path` is not used. `client`, `fiber` and `report`
  /// outlive it. Throws UsageError when readers are asked for.
  MultiLock(Client& client, Fiber& fiber, const LockReport& report, LockRequest request,
            std::vector<std::string> paths, bool atomic);

  Task<> acquire(Clock::time_point deadline) override;
  /// False: one of them at least had been lost.
  Task<bool> release() override;
  Task<> downgrade() override;
  /// Nodes and tokens in the order of the paths as they were given.
  const LockHolding& holding() const override { return holding_; }

 private:
  /// One path's.
  struct Queue {
    Queue(MultiLock& lock, const std::string& path);
    LockRequest request;
    LockReport report;
    LockTurn turn;
    std::string holder;  ///< what the first in the queue says of itself, as told last
  };
  /// Queues that are joined in one transaction.
  struct Stage {
    std::vector<std::unique_ptr<Queue>> queues;
    std::unique_ptr<LockNodes> nodes;
  };

  void add_stage(const std::vector<std::string>& paths);
  LockNodesPlan plan(const Stage& stage, const std::string& guid) const;

  Task<> contend();
  Task<> look_first();
  Task<Turn> join(std::size_t number);
  Task<Turn> await_turn(Queue& queue, LockNodes& nodes);
  Task<bool> prove();
  void note_holding();
  Task<> await_gone(std::string node);
  Task<> give_up();
  Task<bool> take_back();
  void tell_lost();

  LockRequests requests_;
  const LockReport& report_;
  LockRequest request_;
  std::vector<std::string> paths_;  ///< as they were given
  Compat names_;
  std::vector<std::unique_ptr<Stage>> stages_;
  LockWatch watch_;
  Queue* stopped_at_ = nullptr;  ///< where the wait ended before all were held
  bool same_session_ = true;     ///< in which the node there had been made
  LockHolding holding_;
};

}  // namespace zksh
