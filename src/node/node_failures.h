// NodeFailures: a command on several nodes reports what fails, and goes on.
#pragma once

#include "base/error.h"
#include "client/diagnose_connection.h"
#include "client/zk_error.h"
#include "command/command.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace zksh {

/// Collects the failures of single nodes, and reports each at once on stderr, as cat and ls do.
class NodeFailures {
 public:
  /// `cx` must outlive it.
  explicit NodeFailures(Context& cx) : cx_(cx) {}

  /// Runs the work for one node, and reports a ZkError that concerns only that node. Rethrows all
  /// other errors: if the session is gone, no node would fare better.
  template <class F>
  void during(F&& work) {
    try {
      std::forward<F>(work)();
    } catch (const ZkError& error) {
      if (!is_about_one_node(error.code())) throw;
      report(error);
    }
  }
  void report(const ZkError& error);
  /// The error with its remedy, as it is reported. Blocks; throws Cancelled.
  ZkError explained(const ZkError& error);
  void note(int result) {
    if (first_ == status::ok) first_ = result;
  }
  /// The status of the first failure; `otherwise` if there was none.
  int first(int otherwise = status::ok) const { return first_ == status::ok ? otherwise : first_; }

 private:
  static bool is_about_one_node(int code);

  Context& cx_;
  MissingChroot missing_chroot_;
  int first_ = status::ok;
};

/// Calls `work` for each node, in order; a failure of one node is reported, and the others go on.
/// Returns the status of the first failure, or the first status other than ok that `work` returned.
/// Throws errors that do not concern a single node.
int each_node(Context& cx, const std::vector<std::string>& paths,
              const std::function<int(const std::string& path)>& work);

}  // namespace zksh
