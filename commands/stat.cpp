// stat: print a node's metadata.
#include "command/command.h"
#include "node/listing.h"
#include "node/node_json.h"

namespace zksh::command_stat {
namespace {

struct Args {
  bool human = false;
  bool watch = false;
  std::vector<std::string> paths;
};

void declare(Options& o, Args& a) {
  o.flag("-h,--human", a.human, "Show ages, sizes and owners beside the fields.");
  o.flag("-w,--watch", a.watch,
         "Report the next change of the node, or its creation if it does not exist.");
  o.nodes("path", a.paths, "The nodes to show.");
}

constexpr DeprecatedForm old_form{"stat path [watch]", "stat [-w] path"};

Sent run(Context& cx, const Args& a) {
  const auto given = node_words(cx, a.paths, is_watch_word, &old_form);
  const auto watch = cx.printed_watch(a.watch || given.legacy);
  const auto start = [&cx, watch](const std::string& path) {
    return cx.client.start_exists(path, watch);
  };
  const auto print = [&cx, human = a.human](const std::string& path, const Stat& stat) {
    if (cx.out.json())
      print_json(cx, path_json(path).set("stat", stat_json(stat)));
    else
      print_stat(cx, stat, human);
  };
  return read_each(cx, given.paths, start, print);
}

}  // namespace

extern const Command stat_command = make_command<Args>(
    {.name = "stat",
     .group = "Nodes",
     .summary = "Show the Stat (metadata) of a node",
     .keywords = {"metadata", "version", "time", "exists", "czxid"},
     .details =
         "Times are in the local time zone. -h shows in parentheses how old the node and its value "
         "are (by this machine's clock), the size in KiB, and the client address of an ephemeral's "
         "owner, if the servers tell it (cons, dump).\n\nThe READ permission is needed only since "
         "ZooKeeper 3.9. A watch can be set on a missing node: it reports the creation. A last "
         "word watch, true or 1 is zkCli 3.4's form of -w.",
     .examples = {{"stat /zookeeper", "The Stat of a node."}, {"stat -h /app", "With ages."}},
     .json = "path stat",
     .zkcli_syntax = "[-w] path"},
    declare, run);
}  // namespace zksh::command_stat
