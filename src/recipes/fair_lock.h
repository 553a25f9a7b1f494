// FairLock: ZooKeeper's lock recipe: contenders queue up, and each watches only the one before it.
#pragma once

#include "recipes/lock_queue.h"
#include "recipes/lock_requests.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace zksh {

/// What a contender watches while it waits.
enum class LockWait {
  Predecessor,  ///< the one before it: an event wakes one contender
  Children,     ///< all the lock's children: every change wakes every contender (the herd)
};

/// An exclusive lock, or one side of a read/write lock: ephemeral sequential znodes with a guid in
/// their names, in the order of lock_queue.h. A contender lists its rivals without a watch, watches
/// the data of the nearest one that keeps it waiting, and lists again after the event.
/// With LockWait::Children it lists them with a watch instead, as recipes for teaching do.
/// Source: ZooKeeper Recipes and Solutions, "Locks" and "Shared Locks"; names of Curator, kazoo.
class FairLock final : public Recipe {
 public:
  /// `report` and the others outlive it.
  FairLock(Client& client, Strand& strand, const LockReport& report, LockRequest request,
           LockWait wait = LockWait::Predecessor);

  Flow<> acquire(Clock::time_point deadline) override;
  Flow<bool> release() override;
  Flow<> downgrade() override;
  const LockHolding& holding() const override { return holding_; }

 private:
  enum class Turn { Held, PlaceLost, OtherNames };

  Flow<> contend();
  Flow<> look_first();
  // Making the nodes: fair_lock_nodes.cpp.
  Flow<> enter();
  Flow<int> create(bool with_parent);
  Flow<bool> find_created();
  CreateOp parent_creation() const;
  std::vector<Op> creations() const;
  void adopt(const std::vector<OpResult>& results);
  Flow<> prove_token();
  // Waiting for the turn.
  Flow<Turn> await_turn();
  Flow<> list();
  Flow<std::map<std::string, std::int64_t>> fetch_order(std::vector<std::string> names);
  Watch listing_watch() const;
  Flow<> await_change(std::size_t own, std::size_t before);
  Flow<Outcome<Node>> look_at(std::string path);
  Flow<> tell_place(std::size_t own, std::size_t before, Data said);
  bool wants_other_names(std::size_t own) const;
  void warn_of_flaws();
  void tell_lost_place();
  // Taking the nodes back: fair_lock_nodes.cpp.
  Flow<bool> withdraw(bool known_to_exist);
  Flow<bool> session_is_there();
  Flow<int> remove_nodes();

  bool same_session();
  std::string path_of(const std::string& name) const;
  Compat names() const { return request_.compat.value_or(fallback_); }

  LockRequests requests_;
  Strand& strand_;
  const LockReport& report_;
  LockRequest request_;
  LockWait wait_;
  Compat fallback_ = Compat::Curator;  ///< the names, when none are asked for
  bool containers_ = true;             ///< the server knows them

  std::string guid_;   ///< of the nodes in this session
  std::string key_;    ///< the same, as LockName has it
  bool sent_ = false;  ///< nodes of this guid were asked for, and may exist
  LockHolding holding_;
  LockQueue queue_;           ///< as listed last
  bool listed_ = false;       ///< queue_ is younger than our nodes, and not used yet
  std::size_t position_ = 0;  ///< in the queue as told last; 0: never
  std::string watched_;       ///< the node whose event is waited for; empty: none
  Mailbox mailbox_ = std::make_shared<Guarded<std::deque<Event>>>();
  std::set<std::string> warned_;
};

}  // namespace zksh
