// tree: draw a subtree.
#include "base/json.h"
#include "base/number.h"
#include "command/command.h"
#include "command/output.h"
#include "command/screen.h"
#include "command/work.h"
#include "node/node_json.h"
#include "tree/skipped_nodes.h"
#include "tree/tree_drawing.h"
#include "tree/walk.h"

namespace zksh::command_tree {
namespace {

struct Args {
  std::optional<std::int64_t> depth;
  bool counts = false;
  bool sizes = false;
  WorkOptions limits;
  std::optional<std::string> path;
};

void declare(Options& o, Args& a) {
  o.number("-L,-d,--depth", a.depth, "depth", "Show at most this many levels below the node.");
  o.flag("-c,--children,--count", a.counts, "Show the number of children of each node.");
  o.flag("-s,--size", a.sizes, "Show the size of each value, and the total.");
  declare_work_limits(o, a.limits);
  o.node("path", a.path, "The top node; by default the current node.");
}

Json node_json(const TreeNode& node) {
  return path_json(node.path)
      .set("depth", node.depth)
      .set("numChildren", node.stat_readable ? Json(node.stat.num_children) : Json())
      .set("dataLength", node.stat_readable ? Json(node.stat.data_length) : Json())
      .set("ephemeralOwner",
           node.stat.ephemeral_owner != 0 ? Json(session_text(node.stat.ephemeral_owner)) : Json())
      .set("readable", node.readable && node.stat_readable);
}

int run(Context& cx, const Args& a) {
  const auto depth = depth_of(a.depth);
  const auto top = a.path ? cx.resolve(*a.path) : cx.knows_current_node() ? cx.resolve(".") : "/";
  TreeDrawing drawing({.ascii = !terminal_shows_utf8(),
                       .color = use_color(cx),
                       .counts = a.counts,
                       .sizes = a.sizes,
                       .depth = depth});
  ResultLines lines(cx.out);
  SkippedNodes skipped(cx);
  const auto enter = [&](const TreeNode& node) {
    if (!node.readable || !node.stat_readable) skipped.add(node.path);
    if (cx.out.json())
      lines.add(node_json(node).text());
    else
      lines.add(cx.out.plain() ? cx.out.shown(node.path) : drawing.line(node));
  };
  const WalkPlan plan{.tops = {top}, .depth = depth, .limits = a.limits.limits(), .enter = enter};
  lines.during([&] { walk_tree(cx.client, plan, cx.stop); });
  if (cx.out.text()) lines.add(drawing.summary());
  lines.flush();
  return skipped.report();
}

}  // namespace

extern const Command tree_command = make_command<Args>(
    {.name = "tree",
     .group = "Nodes",
     .summary = "Draw a subtree",
     .keywords = {"recursive", "children"},
     .details = "Siblings are sorted by name. Ephemerals are marked; where --depth cuts the tree "
                "off, the number of children is shown. The last line counts the nodes shown, "
                "including the top. The tree is printed while it is read, so it can be of any "
                "size; nodes that vanish meanwhile are left out.\n\nOn a terminal, nodes with "
                "children are blue and ephemerals yellow, unless NO_COLOR or color=never is set.",
     .examples = {{"tree /app", "Draw a subtree."},
                  {"tree -L 1 -c -s /", "Draw the root and its children, with counts and sizes."},
                  {"tree -o plain /app", "One path a line."}},
     .json = "path depth numChildren dataLength ephemeralOwner readable",
     .json_fields = {{"readable", "boolean", "Whether the children could be read."}},
     .pages = true},
    declare, run);
}  // namespace zksh::command_tree
