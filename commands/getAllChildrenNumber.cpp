// getAllChildrenNumber: count the nodes below a node.
#include "client/client.h"
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

int print(Context& cx, const std::string& path, std::int64_t count) {
  print_result(cx, path_json(path).set("nodes", count), std::to_string(count));
  return status::ok;
}

int run(Context& cx, const Args& a) {
  const auto path = cx.resolve(a.path);
  cx.client.learn_server(path, cx.stop);
  const auto counted = cx.client.ask(
      path, [&] { return cx.client.start_count_descendants(path); }, cx.stop);
  if (counted.code == code::ok) return print(cx, path, counted.value);
  if (counted.code != code::unimplemented) throw ZkError(counted.code, path);
  if (!cx.client.exists(path, Watch::none(), cx.stop)) throw ZkError(code::no_node, path);
  std::int64_t count = 0;
  const auto enter = [&](const TreeNode& node) {
    count += node.depth == 0 ? 0 : 1;
    if (node.hides_children()) throw ZkError(code::no_auth, node.path);
  };
  walk_tree(cx.client, {.tops = {path}, .may_be_missing = true, .enter = enter}, cx.stop);
  return print(cx, path, count);
}

}  // namespace

extern const Command getAllChildrenNumber_command = make_command<Args>(
    {.name = "getAllChildrenNumber",
     .group = "Nodes",
     .summary = "Count all nodes below a node",
     .keywords = {"number", "size"},
     .details =
         "A server of ZooKeeper 3.6 or later counts them itself, also those that this session "
         "may not list. With an older one, or one that does not say its version (srvr), zksh "
         "walks the subtree: it needs the READ permission on every node that has children, "
         "and nodes that come or go meanwhile may or may not be counted. `count` counts the "
         "top, too, and skips what it may not list.",
     .examples = {{"getAllChildrenNumber /zookeeper", "Count the nodes below /zookeeper."}},
     .json = "path nodes",
     .zkcli_syntax = "path"},
    declare, run);
}  // namespace zksh::command_getAllChildrenNumber
