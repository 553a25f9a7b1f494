// getAllChildrenNumber: count the nodes below a node.
#include "command/command.h"
#include "node/node_json.h"
#include "tree/walk.h"

namespace zksh::command_getAllChildrenNumber {
namespace {

struct Args {
  std::string path;
};

void declare(Options& o, Args& a) {
  o.node("path", a.path, "The top of the subtree, which is not counted.");
}

int run(Context& cx, const Args& a) {
  const auto path = cx.resolve(a.path);
  const auto top = cx.client.exists(path, Watch::none(), cx.stop);
  if (!top) throw ZkError(code::no_node, path);
  std::size_t count = 0;
  const StatVisitor visitor{
      .visit = [&](const std::string& node, const Stat&) { count += node == path ? 0 : 1; },
      .unlistable = [](const ZkError& error) { throw error; }};
  visit_stats(cx.client, {path}, visitor, cx.stop);
  print_result(cx, path_json(path).set("nodes", count), std::to_string(count));
  return status::ok;
}

}  // namespace

extern const Command getAllChildrenNumber_command = make_command<Args>(
    {.name = "getAllChildrenNumber",
     .group = "Nodes",
     .summary = "Count all nodes below a node",
     .keywords = {"number", "size"},
     .details = "The ZooKeeper C client has no call for this, so zksh walks the subtree, with many "
                "requests in flight. It needs the READ permission on every node that has children. "
                "Nodes that come or go meanwhile may or may not be counted. `count` counts the "
                "top, too, and skips what it may not list.",
     .examples = {{"getAllChildrenNumber /zookeeper", "Count the nodes below /zookeeper."}},
     .json = "path nodes",
     .zkcli_syntax = "path"},
    declare, run);
}  // namespace zksh::command_getAllChildrenNumber
