// find: list the nodes of a subtree that meet conditions.
#include "command/command.h"
#include "command/result_lines.h"
#include "command/work_options.h"
#include "node/node_json.h"
#include "tree/node_filter.h"
#include "tree/skipped_nodes.h"
#include "tree/walk.h"

namespace zksh::command_find {
namespace {

struct Args {
  NodeFilterOptions filter;
  WalkOptions walk;
};

void declare(Options& o, Args& a) {
  declare_node_filter(o, a.filter);
  declare_walk(o, a.walk);
}

int run(Context& cx, const Args& a) {
  const auto matches = node_filter(cx, a.filter);
  ResultLines lines(cx.out);
  SkippedNodes skipped(cx, a.filter.acl ? "read" : "list");
  const auto enter = [&](const TreeNode& node) {
    if (node.hides_children() || !node.acl_readable) skipped.add(node.path);
    if (!matches(node)) return;
    lines.add(cx.out.json() ? path_json(node.path)
                                  .set("stat", node.stat_readable ? stat_json(node.stat) : Json())
                                  .text()
                            : cx.out.shown(node.path));
  };
  walk_for_lines(cx, a.walk,
                 {.depth = a.filter.depth(),
                  .stats = a.filter.needs_stats() || cx.out.json(),
                  .acls = a.filter.acl.has_value(),
                  .enter = enter},
                 lines, skipped);
  return skipped.report();
}

}  // namespace

extern const Command find_command = make_command<Args>(
    {.name = "find",
     .group = "Trees",
     .summary = "Find nodes of a subtree by name, type, age or size",
     .keywords = {"search", "filter", "recursive", "permission", "ACL"},
     .details =
         "Prints the paths of nodes that meet all conditions, one a line; without conditions, "
         "every node. Parents come before their children, and siblings are sorted. Ages are those "
         "of the value, by this machine's clock. Options may have one dash or two. Servers do not "
         "tell clients whether a node is a container or has a TTL. Nodes whose children may not be "
         "listed are still checked themselves; they are named on stderr, and the status is 7.",
     .examples = {{"find /app -name 'lock-*'", "Search by name."},
                  {"find / -type ephemeral", "All ephemeral nodes."},
                  {"find /app -older 30d -max-children 0",
                   "Leaves that have not been written for a month."},
                  {"find /app -min-size 100k", "Large values."},
                  {"find /app -acl world:anyone:w", "Nodes that everybody may write."}},
     .json = "path stat [acl]",
     .strict = true,
     .pages = true},
    declare, run);
}  // namespace zksh::command_find
