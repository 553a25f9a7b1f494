// SkippedNodes: the nodes that a walk had to leave out: hidden by their ACLs, or no top of a
// subtree.
#pragma once

#include "node/listing.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace zksh {

class SkippedNodes {
 public:
  /// `what`: what may not be done with the nodes. `cx` outlives it.
  explicit SkippedNodes(Context& cx, std::string_view what = "list")
      : cx_(cx), failures_(cx), what_(what) {}
  SkippedNodes(const SkippedNodes&) = delete;
  SkippedNodes& operator=(const SkippedNodes&) = delete;
  /// Where the command ended before `report`, by another failure: the results that it printed
  /// before that are incomplete.
  ~SkippedNodes() {
    if (!reported_ && !cx_.stop.stop_requested()) tell();
  }

  void add(const std::string& path) {
    if (count_++ == 0) first_ = path;
  }
  /// For WalkPlan::missing: says that there is no such node.
  void missing(const std::string& path) { failures_.tell(ZkError(code::no_node, path)); }
  bool empty() const { return count_ == 0; }
  /// Says on stderr that the results are incomplete, if they are. Returns the status of what was
  /// missing first, status::not_authorised when only permissions were, else `otherwise`.
  int report(int otherwise = status::ok);

 private:
  void tell() const;

  Context& cx_;
  NodeFailures failures_;
  std::string_view what_;
  std::size_t count_ = 0;
  std::string first_;
  bool reported_ = false;
};

}  // namespace zksh
