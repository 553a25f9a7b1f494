// Extent: the size of subtrees, and the question that is asked before work on them.
#include "tree/extent.h"

#include "base/number.h"
#include "base/words.h"
#include "client/node_path.h"
#include "command/questions.h"
#include "command/work.h"
#include "config/settings.h"
#include "tree/walk.h"

#include <fmt/core.h>

namespace zksh {

Extent extent_of(Context& cx, const std::vector<std::string>& tops, const WorkLimits& limits) {
  Extent extent;
  Progress progress(cx.out, cx.background, "nodes counted");
  const auto enter = [&](const TreeNode& node) {
    progress.reach(++extent.nodes);
    extent.ephemerals += node.stat.ephemeral_owner != 0 ? 1 : 0;
  };
  walk_tree(cx.client, {.tops = tops, .may_be_missing = true, .limits = limits, .enter = enter},
            cx.stop);
  return extent;
}

std::string named_subtrees(const std::vector<std::string>& tops) {
  return tops.size() == 1 ? as_word(tops.front()) : fmt::format("{} subtrees", tops.size());
}

std::optional<std::string> subtree_refusal(Context& cx, const std::vector<std::string>& tops,
                                           const WorkLimits& limits, const std::string& verb,
                                           const std::string& done) {
  const auto extent = extent_of(cx, tops, limits);
  if (extent.nodes <= 1 && !cx.services.protection.production) return std::nullopt;
  const auto ephemerals =
      extent.ephemerals == 0 ? "" : fmt::format(", {} of them ephemeral", extent.ephemerals);
  const auto word =
      tops.size() == 1 ? std::string(base_name(tops.front())) : std::to_string(extent.nodes);
  return refusal_of(cx, {.what = fmt::format("{}: {}{}.", named_subtrees(tops),
                                             counted(extent.nodes, "node"), ephemerals),
                         .word = word.empty() ? "/" : word,
                         .path = tops.size() == 1 ? tops.front() : "",
                         .nodes = extent.nodes,
                         .verb = verb,
                         .done = done});
}

}  // namespace zksh
