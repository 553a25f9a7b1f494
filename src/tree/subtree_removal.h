// Subtree removal: finds the nodes of a subtree and removes them.
#pragma once

#include "base/name_list.h"
#include "client/client.h"
#include "client/node_path.h"
#include "client/work_limits.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// A compact list of subtrees' nodes, every parent before its children: about ten bytes per node
/// plus the names.
class FoundTree {
 public:
  static constexpr std::uint32_t no_parent = 0xffffffff;

  /// Returns the node's number; numbers start at 0. The name of a top is its path.
  std::uint32_t add(std::uint32_t parent, std::string_view name) {
    names_.add(name);
    parents_.push_back(parent);
    guessed_.push_back(false);
    return static_cast<std::uint32_t>(parents_.size() - 1);
  }
  std::size_t size() const { return parents_.size(); }
  bool is_top(std::uint32_t node) const { return parents_[node] == no_parent; }
  std::string path(std::uint32_t node) const {
    if (is_top(node)) return std::string(names_[node]);
    return join_path(path(parents_[node]), names_[node]);
  }
  /// In bytes.
  std::size_t memory() const {
    return names_.memory() + parents_.size() * sizeof(std::uint32_t) + guessed_.size() / 8;
  }

  /// Whether the node was assumed to be a leaf without listing it.
  bool is_guessed_leaf(std::uint32_t node) const { return guessed_[node]; }
  void guess_leaf(std::uint32_t node) { guessed_[node] = true; }

 private:
  NameList names_;
  std::vector<std::uint32_t> parents_;
  std::vector<bool> guessed_;
};

struct Removal {
  std::size_t removed = 0;
  std::size_t found = 0;             ///< nodes to be removed
  std::size_t unknown = 0;           ///< nodes that may or may not be removed
  std::optional<ZkError> failure{};  ///< the first
};

struct RemovalPlan {
  std::string top{};
  std::size_t batch = 1000;  ///< nodes per transaction
  WorkLimits limits{};
  /// Called from time to time on the caller's thread.
  std::function<void(const Removal& removal)> progress{};
};

/// Finds the nodes of a subtree, then removes them bottom-up, in transactions of at most `batch`
/// nodes (fewer if their paths are long), several in flight; siblings in the reverse of the
/// server's order. Nodes that are already gone are skipped. Any other failure leaves its node and
/// therefore its ancestors; the other nodes are still removed.
///
/// Up to 10000 nodes, each is listed before anything is removed, as in ZooKeeper's
/// ZKUtil.deleteRecursive. Beyond that only the first of the siblings is listed: if it has no
/// children, the others are assumed to be leaves too, and are listed only if the server says that
/// they are not empty. If the names take more than some tens of megabytes, about a million nodes,
/// the tree is removed in parts, to bound the memory.
///
/// After a lost connection, waits for the next one (await_reconnection) and repeats what was not
/// answered. Blocks. Throws ZkError if a node cannot be listed or the connection does not come
/// back, Cancelled on a stop. `result` is what was done, also if this throws.
void remove_subtree(Client& client, const RemovalPlan& plan, Removal& result,
                    const std::stop_token& stop);

}  // namespace zksh
