// MultiLock: several locks at once, or none.
#pragma once

#include "recipes/lock_nodes.h"
#include "recipes/lock_requests.h"
#include "recipes/lock_turn.h"

#include <memory>
#include <string>
#include <vector>

namespace zksh {

/// The exclusive locks of several paths. If anything fails, all are given back, in reverse.
///
/// In order: joins one queue after the other, in byte order of the paths, whatever order they are
/// given in. So no two such contenders deadlock. Source: resource ordering, Havender 1968;
/// Curator's InterProcessMultiLock, which uses its caller's order.
///
/// Atomic: joins all queues in one transaction. So two such contenders are in the same order in
/// every queue, and do not deadlock either.
///
/// The two kinds could deadlock: one that goes in order holds /a and waits for /b behind an atomic
/// one that waits for /a. Therefore the names of atomic contenders are recognisable (see
/// joins_many), and a contender that goes in order and finds one before it gives everything back,
/// holds nothing until that one is gone, and starts again.
class MultiLock final : public Recipe {
 public:
  /// `paths` must be distinct; `request.path` is not used. `client`, `fiber` and `report` must
  /// outlive it. Throws UsageError if a shared lock is requested.
  MultiLock(Client& client, Fiber& fiber, const LockReport& report, LockRequest request,
            std::vector<std::string> paths, bool atomic);

  Task<> acquire(Clock::time_point deadline) override;
  /// Returns false if at least one of them had been lost.
  Task<bool> release() override;
  Task<> downgrade() override;
  /// Nodes and tokens in the order of the paths as given.
  const LockHolding& holding() const override { return holding_; }

 private:
  /// The queue of one path.
  struct Queue {
    Queue(MultiLock& lock, const std::string& path);
    LockRequest request;
    LockReport report;
    LockTurn turn;
    std::string holder;  ///< the owner data of the first in the queue, as last reported
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
  void report_lost();

  LockRequests requests_;
  const LockReport& report_;
  LockRequest request_;
  std::vector<std::string> paths_;  ///< as given
  Compat names_;
  std::vector<std::unique_ptr<Stage>> stages_;
  LockWatch watch_;
  Queue* stopped_at_ = nullptr;  ///< where the wait ended before all were held
  bool same_session_ = true;     ///< whether the node there was still in its session
  LockHolding holding_;
};

}  // namespace zksh
