// SkippedNodes: counts and reports nodes that a walk left out.
#include "tree/skipped_nodes.h"

#include <fmt/format.h>

#include <utility>

namespace zksh {

int SkippedNodes::report(int otherwise) {
  reported_ = true;
  tell();
  return failures_.first(empty() ? otherwise : status::not_authorised);
}

void SkippedNodes::tell() const {
  if (empty()) return;
  cx_.out.err_line_regardless(
      fmt::format("incomplete: no permission to {} {}{}", what_, cx_.out.shown_in_error(first_),
                  count_ > 1 ? fmt::format(" and {} more", count_ - 1) : ""));
}

void walk_for_lines(Context& cx, const WalkOptions& options, WalkPlan plan, ResultLines& lines,
                    SkippedNodes& skipped) {
  plan.tops = cx.resolve_all_or_current(options.tops);
  plan.limits = options.limits.limits();
  Progress progress(cx.out, cx.background, "nodes");
  plan.missing = [&](const std::string& path) {
    lines.flush();
    progress.end();
    skipped.missing(path);
  };
  lines.before_first([&] { progress.give_way(); });  // a pager may have the terminal from then on
  plan.enter = [&, enter = std::move(plan.enter)](TreeNode& node) {
    enter(node);
    progress.advance();
  };
  lines.during([&] { walk_tree(cx.client, plan, cx.stop); });
  lines.before_first({});
}

}  // namespace zksh
