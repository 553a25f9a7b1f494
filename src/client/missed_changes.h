// MissedChanges: what the Stats of a subtree tell of changes during a time without a connection.
#pragma once

#include "client/client.h"

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace zksh {

/// Finds the changes of a time that is given by zxids, without knowing what was there before: what
/// was created or written, and the nodes of which a child was deleted, unless a later change of
/// their lists hides that. Several writes of a node are one.
class MissedChanges {
 public:
  /// A change, which the server would have reported.
  struct Change {
    std::int64_t zxid;
    Event::Type type;  ///< ChildrenChanged: a child was deleted
    std::string path;
    Stat stat{};
  };

  /// Of the changes after `since`, up to `until`.
  MissedChanges(std::int64_t since, std::int64_t until) : since_(since), until_(until) {}

  /// Call for each node, before those below it.
  void visit(const std::string& path, const Stat& stat);
  /// Call if the children of the node visited last may not be listed.
  void unlistable() {
    if (!open_.empty()) open_.back().is_explained = true;
  }
  /// The changes, in order, once all nodes have been visited.
  std::vector<Change> take();
  /// Whether any node was visited.
  bool has_visited() const { return has_visited_; }
  bool is_missed(std::int64_t zxid) const { return zxid > since_ && zxid <= until_; }

 private:
  struct Open {
    std::string path;
    Stat stat;
    bool is_explained = false;  ///< the last change of its list was the creation of a child
  };
  void leave();

  std::int64_t since_;
  std::int64_t until_;
  std::vector<Open> open_{};  ///< the nodes on the path to the present one
  std::vector<Change> changes_{};
  bool has_visited_ = false;
};

/// Visits a node, if it exists, and all below it. Blocks; throws as Client's blocking members.
using Survey = std::function<void(Client& client, const std::string& top, MissedChanges& changes,
                                  const std::stop_token& stop)>;

}  // namespace zksh
