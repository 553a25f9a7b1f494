// LockTurn: waits in the queue of a lock until all that must come before are gone.
#pragma once

#include "recipes/lock_nodes.h"
#include "recipes/lock_queue.h"
#include "recipes/recipe_requests.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace zksh {

/// The nodes with which a contender with this guid joins the queue of a lock.
NodesPlan contender_plan(const LockRequest& request, Compat names, const std::string& guid);

/// How a wait in a queue ends.
enum class Turn {
  Held,
  PlaceLost,   ///< some of the nodes, or their session, are gone
  OtherNames,  ///< others do not recognise ours: join with the names of all libraries
  GivesWay,    ///< see yield_to_multi_joiners
};

/// A contender's wait, by the rules of lock_queue.h. Lists the children of the lock without a
/// watch, watches the data of the nearest contender that keeps it waiting, and lists again after
/// the event. Source: ZooKeeper Recipes and Solutions, "Locks" and "Shared Locks".
class LockTurn {
 public:
  /// All references must outlive it. With RecipeKind::Herd, watches all children of the lock
  /// instead, so that every change wakes every contender (the herd effect).
  LockTurn(RecipeRequests& requests, const RecipeReport& report, const LockRequest& request)
      : requests_(requests),
        report_(report),
        request_(request),
        herd_(request.recipe == RecipeKind::Herd),
        watch_(requests),
        listing_(requests, watch_, request.path()) {}

  /// Sends the listing ahead.
  void ask() { listing_.ask(herd_); }
  /// Waits until no other contender is before the one with these nodes, or waiting is pointless.
  /// `names` are the kind of their names. Throws ZkError, LockBusy, Cancelled.
  Task<Turn> await(LockNodes& nodes, Compat names);
  /// From now on, does not wait behind a contender that has joined several queues at once: it may
  /// wait in another of them for a lock that we hold.
  void yield_to_multi_joiners() { gives_way_ = true; }
  /// After Turn::GivesWay: the absolute path of that contender's node.
  const std::string& obstacle() const { return obstacle_; }
  /// Throws LockBusy if it would have to wait. Leaves no node and no watch.
  Task<> look_first();
  /// The present queue, without a contender of our own.
  Task<LockQueue> look();
  /// Reports that the place was lost, and why; the next place will be reported anew.
  void report_lost_place(bool same_session);
  /// After Turn::OtherNames: reports that the next names will be those of all libraries.
  void report_other_names() const;
  /// Stops watching. `nodes_go`: our own nodes are about to be removed.
  void leave(bool nodes_go);

 private:
  Task<LockQueue> order(std::vector<std::string>&& names);
  std::optional<std::size_t> own_place(const LockQueue& queue, const LockNodes& nodes) const;
  Task<std::map<std::string, std::int64_t>> fetch_order(std::vector<std::string> names);
  bool needs_other_names(const LockQueue& queue, std::size_t own, Compat names) const;
  void warn_of_flaws(const LockQueue& queue, std::size_t own);
  Task<> await_change(QueuePlace place);
  void look_again(const LockNodes& nodes);
  Task<> report_place(QueuePlace place, Outcome<Node> before);
  bool finds_obstacle(const LockQueue& queue, std::size_t own);
  std::string path_of(const std::string& name) const;
  const std::string& called() const;

  RecipeRequests& requests_;
  const RecipeReport& report_;
  const LockRequest& request_;
  bool herd_;  ///< listings set a watch
  RecipeWatch watch_;
  ChildListing listing_;
  bool gives_way_ = false;
  std::string obstacle_;
  std::size_t position_ = 0;  ///< in the queue, as last reported; 0: never
  std::set<std::string> warned_;
};

}  // namespace zksh
