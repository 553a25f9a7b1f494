// count: count the nodes of a subtree.
#include "command/command.h"
#include "command/work.h"
#include "node/node_json.h"
#include "tree/skipped_nodes.h"
#include "tree/walk.h"

#include <algorithm>

namespace zksh::command_count {
namespace {

struct Args {
  bool all = false;
  WalkOptions walk;
};

void declare(Options& o, Args& a) {
  o.flag("-a,--all", a.all, "Also count ephemerals, leaves, levels and bytes.");
  declare_walk(o, a.walk);
}

/// The counts of a subtree, including its top.
struct Census {
  std::size_t nodes = 0;
  std::size_t ephemerals = 0;
  std::size_t leaves = 0;
  std::size_t depth = 0;
  std::int64_t bytes = 0;

  void add(const TreeNode& node) {
    ++nodes;
    ephemerals += node.stat.ephemeral_owner != 0 ? 1 : 0;
    leaves += node.stat_readable && node.stat.num_children == 0 ? 1 : 0;
    depth = std::max(depth, node.depth);
    bytes += node.stat.data_length;
  }
};

void print(Context& cx, const Args& a, const std::string& path, const Census& census, bool named) {
  if (cx.out.json())
    return print_json(cx, path_json(path)
                              .set("nodes", census.nodes)
                              .set("ephemeralCount", census.ephemerals)
                              .set("leaves", census.leaves)
                              .set("depth", census.depth)
                              .set("bytes", census.bytes));
  if (named)
    cx.out.line("{}\t{}", census.nodes, cx.out.shown(path));
  else
    cx.out.line("{}", census.nodes);
  if (!a.all) return;
  cx.out.line("ephemerals {}", census.ephemerals);
  cx.out.line("leaves {}", census.leaves);
  cx.out.line("depth {}", census.depth);
  cx.out.line("bytes {}", census.bytes);
}

int run(Context& cx, const Args& a) {
  const auto tops = cx.resolve_all_or_current(a.walk.tops);
  const auto limits = a.walk.limits.limits();
  SkippedNodes skipped(cx);
  for (const auto& top : tops) {
    Census census;
    Progress progress(cx.out, cx.background, "nodes");
    const auto enter = [&](const TreeNode& node) {
      if (node.hides_children()) skipped.add(node.path);
      census.add(node);
      progress.advance();
    };
    const auto missing = [&](const std::string& path) { skipped.missing(path); };
    walk_tree(cx.client,
              {.tops = {top},
               .missing = missing,
               .stats = a.all || cx.out.json(),
               .limits = limits,
               .enter = enter},
              cx.stop);
    progress.end();
    if (census.nodes > 0) print(cx, a, top, census, tops.size() > 1);
  }
  return skipped.report();
}

}  // namespace

extern const Command count_command = make_command<Args>(
    {.name = "count",
     .group = "Trees",
     .summary = "Count the nodes of a subtree",
     .keywords = {"number", "size"},
     .details = "Counts the top, too; getAllChildrenNumber does not. With several nodes, prints "
                "each number, a tab and the path. Nodes whose children may not be listed are "
                "skipped, and the status is 7.",
     .examples = {{"count /app", "Count the nodes of a subtree."},
                  {"count -a /", "Count everything."}},
     .json = "path nodes ephemeralCount leaves depth bytes",
     .json_fields = {{"ephemeralCount", "integer", "How many of the nodes are ephemeral."},
                     {"leaves", "integer", "Nodes without children."}}},
    declare, run);
}  // namespace zksh::command_count
