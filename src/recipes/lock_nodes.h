// LockNodes: a contender's znodes: made without doubling one, taken back without forgetting one.
#pragma once

#include "recipes/lock_requests.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace zksh {

/// The nodes that one contender makes, all in one transaction.
struct LockNodesPlan {
  /// Ephemeral. Those that are sequential have the guid in their names; the others in their data.
  std::vector<CreateOp> nodes;
  /// Of their parents, when they are missing. Their ancestors are persistent, as are containers
  /// where a server does not know these (before 3.5.3).
  CreateMode parents = CreateMode::Container;
};

/// The nodes by which one contender stands in a queue, or in several, or holds something.
/// Whatever is lost on the way, at most one set of them is left, and none once they are taken
/// back: a creation without an answer is looked for by its guid, which no other contender has, and
/// a new session gets a new guid, since what the old one made will vanish (CURATOR-498).
class LockNodes {
 public:
  using Planner = std::function<LockNodesPlan(const std::string& guid)>;

  /// `requests` outlives it. `joins_many`: they are for several queues, and others are to know
  /// that.
  LockNodes(LockRequests& requests, Planner planner, bool joins_many = false)
      : requests_(requests), planner_(std::move(planner)), joins_many_(joins_many) {}

  /// Makes them, with a new guid, also where others are gone. The result is code::ok, or
  /// code::node_exists when somebody else has a node without a number. `behind` is called right
  /// behind each creation: what it sends is answered after it. Throws ZkError, Error when a parent
  /// keeps vanishing, LockBusy, Cancelled; then they are to be taken back.
  Task<int> make(std::function<void()> behind = {});
  /// Asks for the token, unless an answer has told it, and ends when the session's lease leaves the
  /// time to make use of the lock: a third of the session timeout. After a long wait a server that
  /// lags behind may show nodes whose session the leader has expired. False: they are gone, or the
  /// session is. Throws ZkError, LockBusy, Cancelled.
  Task<bool> prove();
  /// Asks for the token ahead, when prove would have to: for who has to wait anyway.
  void ask_token();
  /// Sends a transaction that extends the lease, when prove would have to; awaits nothing. Sent
  /// ahead of a listing that may show that the lock is held, it saves prove a round trip.
  void renew_lease();
  /// Removes them. False: one of them was gone, or their session was. Lasts until a server answers
  /// or the session has ended; not interrupted by a cancel. Throws ZkError.
  Task<bool> take_back();
  /// Creates and removes nodes in one transaction, the created ones in place of the removed; never
  /// interrupted. Throws LockLost when one of them or the session is gone.
  Task<> exchange(std::vector<Op> ops, std::vector<std::string> after);

  const LockHolding& holding() const { return holding_; }
  bool same_session() const { return requests_.client().session_id() == holding_.session; }
  /// Whether this is the name of one of them.
  bool has(const LockName& name) const { return name.key() == guid_ || name.key() == hex_; }

 private:
  void begin_anew();
  Task<int> create(const std::function<void()>& behind);
  CreateOp parent_creation(const std::string& path) const;
  Task<> explain(std::vector<LockRequests::Sent<Created>> parents);
  void adopt(const std::vector<OpResult>& results);
  Task<bool> find();
  Task<std::optional<std::vector<std::string>>> find_by_names();
  Task<std::optional<std::vector<std::string>>> find_by_data();
  bool lease_lasts();
  LockRequests::Sent<std::vector<OpResult>> send_check();
  Task<bool> await_lease();
  Task<bool> session_is_there();
  Task<int> remove();

  LockRequests& requests_;
  Planner planner_;
  bool joins_many_;
  bool containers_ = true;         ///< the server knows them
  std::set<std::string> parents_;  ///< that are to be made too

  std::string guid_;
  std::string hex_;  ///< the same without dashes, as in kazoo's names
  LockNodesPlan plan_;
  bool asked_ = false;   ///< nodes of this guid may exist
  bool unsure_ = false;  ///< in which session they are is not known
  LockHolding holding_;
  std::optional<LockRequests::Sent<Stat>> token_asked_;  ///< ahead
};

/// Whether all these nodes exist, in this session; waits for a connection. Throws ZkError,
/// LockBusy, Cancelled.
Task<bool> nodes_exist(LockRequests& requests, std::vector<std::string> nodes,
                       std::int64_t session);

}  // namespace zksh
