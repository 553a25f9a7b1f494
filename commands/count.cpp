// count: count the nodes of a subtree.
#include "command.h"
#include "node_json.h"
#include "progress.h"
#include "tree_record.h"
#include "unlisted.h"
#include "walk.h"
#include "work_options.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace zksh {
namespace {

struct Args {
  bool kinds = false;
  WorkOptions limits;
  std::vector<std::string> paths;
};

void declare(Options& o, Args& a) {
  o.flag("-k,--kinds", a.kinds, "How many there are of each kind, how deep, how many bytes.");
  declare_work_limits(o, a.limits);
  o.nodes("path", a.paths, "The tops of the subtrees; the current node if none is given.", false);
}

/// What is below a node, which counts too.
struct Census {
  std::array<std::size_t, 4> of_kind{};  ///< by NodeKind
  std::size_t depth = 0;
  std::int64_t bytes = 0;

  std::size_t of(NodeKind kind) const { return of_kind.at(static_cast<std::size_t>(kind)); }
  std::size_t nodes() const {
    std::size_t sum = 0;
    for (const auto count : of_kind) sum += count;
    return sum;
  }
  void add(const TreeNode& node) {
    ++of_kind.at(static_cast<std::size_t>(life_of(node.stat).kind));
    depth = std::max(depth, node.depth);
    bytes += node.stat.data_length;
  }
};

void print(Context& cx, const Args& a, const std::string& path, const Census& census, bool named) {
  if (cx.out.json()) {
    auto json = path_json(path);
    json.set("nodes", census.nodes())
        .set("persistent", census.of(NodeKind::Persistent))
        .set("ephemeral", census.of(NodeKind::Ephemeral))
        .set("container", census.of(NodeKind::Container))
        .set("ttl", census.of(NodeKind::Ttl))
        .set("depth", census.depth)
        .set("bytes", census.bytes);
    return print_json(cx, json);
  }
  if (named)
    cx.out.line("{}\t{}", census.nodes(), cx.out.shown(path));
  else
    cx.out.line("{}", census.nodes());
  if (!a.kinds) return;
  cx.out.line("persistent {}", census.of(NodeKind::Persistent));
  cx.out.line("ephemeral {}", census.of(NodeKind::Ephemeral));
  cx.out.line("container {}", census.of(NodeKind::Container));
  cx.out.line("ttl {}", census.of(NodeKind::Ttl));
  cx.out.line("depth {}", census.depth);
  cx.out.line("bytes {}", census.bytes);
}

int run(Context& cx, const Args& a) {
  const auto tops = cx.resolve_all_or_current(a.paths);
  const auto limits = a.limits.limits();
  Unlisted unlisted;
  for (const auto& top : tops) {
    Census census;
    Progress progress(cx.out, cx.background, "nodes");
    const auto enter = [&](const TreeNode& node) {
      if (!node.readable && node.stat.num_children > 0) unlisted.add(node.path);
      census.add(node);
      progress.advance();
    };
    walk_tree(cx.client, {.tops = {top}, .limits = limits, .enter = enter}, cx.stop);
    progress.end();
    print(cx, a, top, census, tops.size() > 1);
  }
  return unlisted.report(cx);
}

}  // namespace

extern const Command count_command = make_command<Args>(
    {.name = "count",
     .group = "Trees",
     .summary = "Count the nodes of a subtree",
     .details =
         "The top counts, too (getAllChildrenNumber leaves it out). Of several nodes each has its "
         "number and, behind a tab, its path. -o json: path, nodes, persistent, ephemeral, "
         "container, ttl, depth of the deepest, bytes of all values. Where children may not be "
         "listed the rest is counted, and the status is 7.",
     .examples = {{"count /app", "How many nodes there are."},
                  {"count -k /", "And of which kinds."}},
     .strict = true},
    declare, run);
}  // namespace zksh
