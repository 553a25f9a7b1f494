// LockTurn: waiting in the queue of one lock until all that must come before are gone.
#pragma once

#include "recipes/lock_nodes.h"
#include "recipes/lock_queue.h"
#include "recipes/lock_requests.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace zksh {

/// What a contender watches while it waits.
enum class LockWait {
  Predecessor,  ///< the one before it: an event wakes one contender
  Children,     ///< all the lock's children: every change wakes every contender (the herd)
};

/// How a wait in a queue ends.
enum class Turn {
  Held,
  PlaceLost,   ///< the nodes are gone, or some of them, or their session
  OtherNames,  ///< others do not recognise ours: queue up with the names of all libraries
  GivesWay,    ///< see give_way_to_those_who_join_many
};

/// One contender's wait, by the rules of lock_queue.h. It lists the children of the lock without a
/// watch, watches the data of the nearest contender that keeps it waiting, and lists them again
/// after the event. With LockWait::Children it lists them with a watch instead.
/// Source: ZooKeeper Recipes and Solutions, "Locks" and "Shared Locks".
class LockTurn {
 public:
  /// All that is referred to outlives it.
  LockTurn(LockRequests& requests, const LockReport& report, const LockRequest& request,
           LockWait wait)
      : requests_(requests), report_(report), request_(request), wait_(wait), watch_(requests) {}

  /// Sends the listing; behind a creation it is answered right after it.
  void ask();
  /// Ends when no other contender is before the one with these nodes, or there is no sense in
  /// waiting. `names`: theirs. Throws ZkError, LockBusy,
  /// Cancelled.
  Task<Turn> await(LockNodes& nodes, Compat names);
  /// From now on it does not wait behind a contender that has joined several queues at once, and
  /// may be waiting there for what we hold.
  void give_way_to_those_who_join_many() { gives_way_ = true; }
  /// After Turn::GivesWay: that contender's node, a whole path.
  const std::string& obstacle() const { return obstacle_; }
  /// Throws LockBusy when somebody else would be waited for. Leaves no node and no watch.
  Task<> look_first();
  /// The queue as it is now; no sign of an own contender in it.
  Task<LockQueue> look();
  /// Says that the place is gone, and why; the next one is told anew.
  void tell_lost_place(bool same_session);
  /// Stops watching. `nodes_go`: the own nodes are about to be removed.
  void leave(bool nodes_go);

 private:
  using Sent = LockRequests::Sent<Children>;

  Sent send_listing(bool with_watch);
  Task<std::vector<std::string>> list(bool with_watch);
  Task<LockQueue> order(std::vector<std::string>&& names);
  std::optional<std::size_t> own_place(const LockQueue& queue, const LockNodes& nodes) const;
  Task<std::map<std::string, std::int64_t>> fetch_order(std::vector<std::string> names);
  bool wants_other_names(const LockQueue& queue, std::size_t own, Compat names) const;
  void warn_of_flaws(const LockQueue& queue, std::size_t own);
  Task<> await_change(LockStanding standing);
  Task<> tell_place(LockStanding standing, Data said);
  bool finds_obstacle(const LockQueue& queue, std::size_t own);
  Task<Outcome<Node>> read(std::string name);
  std::string path_of(const std::string& name) const;
  const std::string& called() const;

  LockRequests& requests_;
  const LockReport& report_;
  const LockRequest& request_;
  LockWait wait_;
  LockWatch watch_;
  bool gives_way_ = false;
  std::string obstacle_;
  std::optional<Sent> asked_;  ///< the listing that was sent ahead
  std::size_t position_ = 0;   ///< in the queue as told last; 0: never
  std::set<std::string> warned_;
};

}  // namespace zksh
