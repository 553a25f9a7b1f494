// LockNodes: creates a contender's nodes without duplicates, and removes them without leaving any
// behind.
#pragma once

#include "recipes/recipe_requests.h"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace zksh {

/// The nodes that a contender creates in one transaction.
struct NodesPlan {
  /// All are ephemeral and sequential, with the guid in their names; or there is only one, which is
  /// not sequential, with the guid in its data.
  std::vector<CreateOp> nodes;
  /// For missing parents. Their ancestors become persistent, and so do containers on servers that
  /// do not support these (before 3.5.3).
  CreateMode parents = CreateMode::Container;
  /// An ancestor that is created as that kind, too; empty: only the direct parents are.
  std::string top{};
  /// Done in the same transaction.
  std::vector<RemoveOp> removals{};
};

/// The nodes of a contender in one queue or several, or of a holder. Whatever is lost on the way,
/// at most one set of them is left, and none once they are taken back: if a creation gets no
/// answer, its nodes are searched for by their guid, which is unique, and a new session uses a new
/// guid, since the old session's nodes will vanish (CURATOR-498).
class LockNodes {
 public:
  using Planner = std::function<NodesPlan(const std::string& guid)>;

  /// `requests` must outlive it. `joins_many`: the nodes are for several queues, and others must be
  /// able to see that.
  LockNodes(RecipeRequests& requests, Planner planner, bool joins_many = false)
      : requests_(requests), planner_(std::move(planner)), joins_many_(joins_many) {}

  /// Creates the nodes with a new guid, also if previous ones are gone. Returns code::ok, or
  /// code::node_exists if somebody else has a non-sequential node, or code::lock_lost if a node to
  /// be removed is gone, code::bad_version if it has another version. Calls `on_sent` right after
  /// each creation is sent; what it sends is answered after that. Throws ZkError, Error if a parent
  /// keeps vanishing, LockBusy, Cancelled; then call take_back.
  Task<int> make(std::function<void()> on_sent = {});
  /// Reads the fencing token, unless it is known, and waits until the session's lease leaves enough
  /// time to use the lock: a third of the session timeout. After a long wait, a server that lags
  /// behind may show nodes of a session that the leader has expired. Returns false if the nodes or
  /// the session are gone. Throws ZkError, LockBusy, Cancelled.
  Task<bool> prove();
  /// Requests the token in advance if prove would have to: for contenders that have to wait anyway.
  void ask_token();
  /// Sends a transaction that extends the lease if prove would have to; waits for nothing. Sent
  /// before a listing that may show that the lock is held, it saves prove a round trip.
  void renew_lease();
  /// Removes the nodes. Returns false if one of them or their session was gone. Takes until a
  /// server answers or the session has ended; cannot be cancelled. Throws ZkError.
  /// `asked`: their removal was sent before, and its answer lost.
  Task<bool> take_back(bool asked = false);
  /// Somebody else has removed the nodes for this contender.
  void removed();
  /// Creates and removes nodes in one transaction, the new ones in place of the removed; cannot be
  /// cancelled. Throws LockLost if one of the nodes or the session is gone.
  Task<> exchange(std::vector<Op> ops, std::vector<std::string> after);

  const Holding& holding() const { return holding_; }
  /// Whether the nodes may exist: perhaps created, and not taken back.
  bool may_exist() const { return asked_; }
  bool same_session() const;
  /// Whether this is the name of one of the nodes.
  bool has(const LockName& name) const { return name.key() == guid_ || name.key() == hex_; }

 private:
  void begin_anew();
  Task<int> create(const std::function<void()>& on_sent);
  Task<int> create_all(const std::function<void()>& on_sent);
  std::set<std::string> direct_parents() const;
  void sent_creation(const std::function<void()>& on_sent);
  void ask_ancestors();
  Task<> find_missing();
  void leave_own_node();
  void explain(const std::string& path, int result);
  void adopt(const std::vector<OpResult>& results);
  Task<bool> find();
  Task<std::optional<std::vector<std::string>>> find_by_names();
  Task<std::optional<std::vector<std::string>>> find_by_data();
  bool lease_lasts();
  RecipeRequests::Sent<std::vector<OpResult>> send_check();
  Task<bool> await_lease();
  Task<bool> session_is_there();
  Task<int> remove();

  RecipeRequests& requests_;
  Planner planner_;
  bool joins_many_;
  bool containers_ = true;            ///< the server supports containers
  std::vector<std::string> parents_;  ///< to be created too, ancestors first
  AncestorSearch search_{requests_};
  std::optional<RecipeRequests::Sent<Nothing>> probe_{};  ///< sent before a container is created
  bool parents_exist_ = false;                            ///< when the nodes were last created

  std::string guid_;
  std::string hex_;  ///< without dashes, as in kazoo's names
  NodesPlan plan_;
  bool asked_ = false;   ///< nodes with this guid may exist
  bool unsure_ = false;  ///< it is not known which session the nodes are in
  Holding holding_;
  std::optional<RecipeRequests::Sent<Stat>> token_asked_;  ///< in advance
};

}  // namespace zksh
