// stat: show the metadata of a node.
#include "command.h"
#include "listing.h"

namespace zksh {
namespace {

struct Args {
  bool watch = false;
  std::string path;
  std::optional<std::string> legacy_watch;
};

void declare(Options& o, Args& a) {
  o.flag("-w", a.watch, "Report the next change of the node; on a missing one, its creation.");
  o.node("path", a.path, "The node to look at.");
  o.legacy().text("watch", a.legacy_watch, "Any word: as -w.");
}

int run(Context& cx, const Args& a) {
  if (a.legacy_watch) tell_deprecated(cx, "stat path [watch]", "stat [-w] path");
  const auto path = cx.resolve(a.path);
  const auto stat = cx.client.exists(path, cx.printed_watch(a.watch || a.legacy_watch), cx.stop);
  if (!stat) throw ZkError(code::no_node, path);
  print_stat(cx, *stat);
  return status::ok;
}

}  // namespace

extern const Command stat_command = make_command<Args>(
    {.name = "stat",
     .group = "Nodes",
     .summary = "Show the metadata of a node",
     .details =
         "Needs no permission to read the node. Times are in the local time zone. A watch is set "
         "even when the node is missing: it reports the node's creation.",
     .examples = {{"stat /zookeeper", "The Stat of a node."}},
     .zkcli_syntax = "[-w] path"},
    declare, run);
}  // namespace zksh
