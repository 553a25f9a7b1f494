// Semaphore: so many leases, of which each holder has one or more.
#pragma once

#include "recipes/lock_nodes.h"
#include "recipes/lock_requests.h"
#include "recipes/lock_turn.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zksh {

/// A semaphore with the nodes of Curator's InterProcessSemaphoreV2: whoever wants leases queues up
/// for a fair mutex at PATH/locks; who has that waits until PATH/leases, whose children it alone
/// watches, has room for what it wants, and makes its leases there: all in one transaction, so that
/// nobody ever holds a part of what it wants while it waits for the rest. All children of
/// PATH/leases count, whoever made them. Holders give back in any order, and touch no mutex.
/// How many leases there are is kept in the data of PATH, as kazoo's Semaphore does; it is written
/// where there is nothing, and compared on the way in and again once the leases are had. Curator
/// does not look at it.
/// Source: Curator Tech Notes and InterProcessSemaphoreV2; kazoo.recipe.lock.Semaphore.
class Semaphore final : public Recipe {
 public:
  /// `count`: how many leases there are in all; `quantity`: how many it takes, 1 to `count`.
  /// `client`, `fiber` and `report` outlive it.
  Semaphore(Client& client, Fiber& fiber, const LockReport& report, LockRequest request, int count,
            int quantity = 1);

  /// Besides what Recipe says: throws ValueError when the semaphore has another number of leases,
  /// or its node has other data. With LockRequest::try_only it does not wait for a lease, but for
  /// those who are taking theirs right now: for `passing_time` at most.
  Task<> acquire(Clock::time_point deadline) override;
  Task<bool> release() override;
  Task<> downgrade() override;
  const LockHolding& holding() const override { return leases_.holding(); }

  static constexpr std::chrono::seconds passing_time{1};

 private:
  /// What the node says of the number of leases.
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
  LockRequests::Sent<Node> send_reading();
  Task<> warn_of_others();
  void compare(const std::string& data) const;

  LockRequests::Sent<Children> send_listing(bool with_watch);
  Task<> list();
  Task<> tell_taken();
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
  LockWatch watch_;  ///< of the leases

  std::optional<LockRequests::Sent<Node>> asked_count_;  ///< sent ahead
  std::int32_t version_ = 0;                             ///< of the data that were read last
  std::optional<LockRequests::Sent<Children>> asked_;    ///< the same, of the leases
  bool watches_ = false;                                 ///< they are listed with a watch
  std::vector<std::string> names_;                       ///< of the leases, as listed last
  bool looked_at_others_ = false;
  bool told_ = false;  ///< the user knows that leases are waited for
};

}  // namespace zksh
