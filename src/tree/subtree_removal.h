// FoundTree: the nodes of subtrees, packed, every parent before its children.
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

/// A million nodes take about ten bytes each, and their names.
class FoundTree {
 public:
  static constexpr std::uint32_t no_parent = 0xffffffff;

  /// A top's name is its path. Returns the node's number; they count from 0.
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

  /// Whether it was taken for a leaf without having been listed.
  bool is_guessed_leaf(std::uint32_t node) const { return guessed_[node]; }
  void guess_leaf(std::uint32_t node) { guessed_[node] = true; }

 private:
  NameList names_;
  std::vector<std::uint32_t> parents_;
  std::vector<bool> guessed_;
};

struct Removal {
  std::size_t removed = 0;
  std::size_t found = 0;             ///< nodes that were to be removed
  std::size_t unknown = 0;           ///< nodes of which nobody knows whether they are removed
  std::optional<ZkError> failure{};  ///< the first
};

struct RemovalPlan {
  std::string top{};
  std::size_t batch = 1000;  ///< nodes in a transaction
  WorkLimits limits{};
  /// Called now and then with what is done so far, on the caller's thread.
  std::function<void(const Removal& so_far)> progress{};
};

/// Finds the nodes of a subtree, then removes them from the deepest up, in transactions of at most
/// `batch` nodes (fewer when their paths are long), several in flight; siblings go in the reverse
/// of the server's order. Nodes that are gone already are passed over; any other failure leaves its
/// node, and so the nodes above it, and the others go on.
///
/// Up to 10 000 nodes, each is listed before anything is removed, as ZooKeeper's own
/// ZKUtil.deleteRecursive does. Beyond that a row of siblings is judged by its first: when that has
/// no children the others are taken for leaves too, and are listed only when the server says that
/// one is not empty. A tree whose names take more than some tens of megabytes, which is about a
/// million nodes, is removed part by part, the memory of one part at a time.
///
/// A lost connection is waited for (await_reconnection); what it left open is asked and written
/// again. Blocks. Throws ZkError for a node that cannot be listed and for a connection that does
/// not come back, Cancelled on a stop. `result` is what was done, also when it throws.
void remove_subtree(Client& client, const RemovalPlan& plan, Removal& result,
                    const std::stop_token& stop);

}  // namespace zksh
