// SkippedNodes: counts and reports nodes that a walk left out, for lack of permission or because
// they do not exist.
#pragma once

#include "command/output.h"
#include "command/work.h"
#include "node/node_failures.h"
#include "tree/walk.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace zksh {

class SkippedNodes {
 public:
  /// `what`: what may not be done with the nodes. `cx` must outlive it.
  explicit SkippedNodes(Context& cx, std::string_view what = "list")
      : cx_(cx), failures_(cx), what_(what) {}
  SkippedNodes(const SkippedNodes&) = delete;
  SkippedNodes& operator=(const SkippedNodes&) = delete;
  /// If the command failed before `report`, reports that its results are incomplete.
  ~SkippedNodes() {
    if (!reported_ && !cx_.stop.stop_requested()) tell();
  }

  void add(const std::string& path) {
    if (count_++ == 0) first_ = path;
  }
  /// For WalkPlan::missing: reports that there is no such node.
  void missing(const std::string& path) { failures_.report(ZkError(code::no_node, path)); }
  bool empty() const { return count_ == 0; }
  /// Reports on stderr that the results are incomplete, if they are. Returns the status of the
  /// first missing node, status::not_authorised if only permissions were missing, else `otherwise`.
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

/// Walks the subtrees with a plan that adds lines. Reports missing tops between them, and prints
/// the last lines at the end, also if it throws. On a terminal, shows how many nodes it has visited
/// until there is something to print. Blocks and throws as walk_tree.
void walk_for_lines(Context& cx, const WalkOptions& options, WalkPlan plan, ResultLines& lines,
                    SkippedNodes& skipped);

}  // namespace zksh
