// ls: list the children of a node.
#include "command.h"
#include "listing.h"
#include "walk.h"

namespace zksh {
namespace {

struct Args {
  bool help = false;
  bool stat = false;
  bool watch = false;
  bool recursive = false;
  std::string path;
  std::optional<std::string> legacy_watch;
};

void declare(Options& o, Args& a) {
  o.flag("-s", a.stat, "Print the node's Stat below the list; not with -R.");
  o.flag("-w", a.watch, "Report the next change of the list; with -R of every list.");
  o.flag("-R", a.recursive, "List the whole subtree, one path a line.");
  o.node("path", a.path, "The node whose children are listed.");
  o.legacy().text("watch", a.legacy_watch, "Any word: as -w.");
}

int run(Context& cx, const Args& a) {
  if (a.legacy_watch) tell_deprecated(cx, "ls path [watch]", "ls [-w] path");
  const auto path = cx.resolve(a.path);
  const auto watch = cx.printed_watch(a.watch || a.legacy_watch);
  if (a.recursive)
    visit_subtree(
        cx.client, path, watch,
        [&](const std::string& node) { cx.out.line("{}", cx.out.shown(node)); }, cx.stop);
  else
    print_children(cx, path, watch, a.stat);
  return status::ok;
}

}  // namespace

extern const Command ls_command = make_command<Args>(
    {.name = "ls",
     .group = "Nodes",
     .summary = "List the children of a node",
     .details =
         "The names are sorted. -R prints full paths: the node, its children, then each child's "
         "subtree in the same way; nodes that vanish meanwhile are left out.",
     .examples = {{"ls /", "The children of the root."},
                  {"ls -s /zookeeper", "The children, and the Stat of the node itself."},
                  {"ls -R /zookeeper", "The whole subtree."}},
     .zkcli_syntax = "[-s] [-w] [-R] path"},
    declare, run);
}  // namespace zksh
