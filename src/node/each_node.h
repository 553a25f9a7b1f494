// EachNode: a command's several nodes; one that cannot be had does not keep it from the others.
#pragma once

#include "client/missing_chroot.h"
#include "command/command.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace zksh {

/// Of several nodes those that failed: each is told at once on stderr, as cat and ls tell it.
class NodeFailures {
 public:
  /// `cx` outlives it.
  explicit NodeFailures(Context& cx) : cx_(cx) {}

  /// Runs what one of the nodes wants; what the servers refuse of that node alone is told. Throws
  /// all other errors: where the session is gone no node would fare better.
  template <class F>
  void during(F&& work) {
    try {
      std::forward<F>(work)();
    } catch (const ZkError& error) {
      if (!is_about_one_node(error.code())) throw;
      tell(error);
    }
  }
  void tell(const ZkError& error);
  void note(int result) {
    if (first_ == status::ok) first_ = result;
  }
  /// The status of the first failure; `otherwise` when there was none.
  int first(int otherwise = status::ok) const { return first_ == status::ok ? otherwise : first_; }

 private:
  static bool is_about_one_node(int code);

  Context& cx_;
  MissingChroot missing_chroot_;
  int first_ = status::ok;
};

/// Calls `work` for each node, in order; what fails of one is told, and the others go on. Returns
/// the status of the first failure, or the first that `work` returned and is not ok. Throws what is
/// not about one node.
int each_node(Context& cx, const std::vector<std::string>& paths,
              const std::function<int(const std::string& path)>& work);

}  // namespace zksh
