// Semaphore: a fixed number of leases, of which each holder has one or more.
#pragma once

#include "recipes/lock_nodes.h"
#include "recipes/lock_requests.h"
#include "recipes/lock_turn.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zksh {

/// A semaphore with the nodes of Curator's InterProcessSemaphoreV2. A contender queues up for a
/// fair mutex at PATH/locks. The mutex holder waits, as the only one to watch the children of
/// PATH/leases, until there is room for all leases it wants, and creates them in one transaction;
/// so nobody holds a part of its leases while waiting for the rest. All children of PATH/leases
/// count, whoever created them. Holders release in any order, without the mutex.
///
/// The number of leases is stored in the data of PATH, as kazoo's Semaphore does. It is written if
/// there is none, and compared at the start and again once the leases are held. Curator ignores it.
/// Source: Curator Tech Notes and InterProcessSemaphoreV2; kazoo.recipe.lock.Semaphore.
class Semaphore final : public Recipe {
 public:
  /// `count` is the number of leases in total, `quantity` how many to take, from 1 to `count`.
  /// `client`, `fiber` and `report` must outlive it.
  Semaphore(Client& client, Fiber& fiber, const LockReport& report, LockRequest request, int count,
            int quantity = 1);

  /// As Recipe::acquire; also throws ValueError if the semaphore has another number of leases, or
  /// its node other data. With LockRequest::try_only it does not wait for a lease, only, for at
  /// most `passing_time`, for contenders that are just taking theirs.
  Task<> acquire(Clock::time_point deadline) override;
  Task<bool> release() override;
  Task<> downgrade() override;
  const LockHolding& holding() const override { return leases_.holding(); }

  static constexpr std::chrono::seconds passing_time{1};

 private:
  /// What the node's data say about the number of leases.
  enum class Count { Missing, Empty, Agreed };

  Task<> contend();
  Task<bool> attempt();
  Task<> look_first();
  Task<Turn> await_turn();
  Task<bool> look_for_room();
  Task<bool> take();
  Task<> give_up();

  Task<Count> read_count();
  Task<> agree();
  Task<> warn_of_others();
  void compare(const std::string& data) const;

  /// Sends the listing of the leases ahead.
  void ask_leases(bool with_watch);
  Task<> list();
  Task<> report_taken();
  bool fits() const;
  bool has_leases() const;
  std::string taken() const;

  LockRequests requests_;
  const LockReport& report_;
  LockRequest request_;
  int count_;
  int quantity_;
  std::string leases_path_;

  LockRequest mutex_request_;
  LockReport mutex_report_;
  LockNodes mutex_;
  LockTurn turn_;
  LockNodes leases_;
  LockWatch watch_;  ///< on the leases
  ChildListing listing_;

  std::optional<LockRequests::Sent<Node>> asked_count_;  ///< sent in advance
  std::int32_t version_ = 0;                             ///< of the data last read
  bool watches_ = false;                                 ///< the leases were listed with a watch
  std::vector<std::string> names_;                       ///< of the leases, as last listed
  bool looked_at_others_ = false;
  bool wait_reported_ = false;  ///< the user knows that it waits for leases
};

}  // namespace zksh
