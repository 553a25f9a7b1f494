// exists: report by exit status whether nodes exist.
#include "base/mapped.h"
#include "client/client.h"
#include "command/command.h"
#include "node/node_json.h"

namespace zksh::command_exists {
namespace {

struct Args {
  bool quiet = false;
  bool watch = false;
  std::vector<std::string> paths;
};

void declare(Options& o, Args& a) {
  o.flag("-q,--quiet", a.quiet, "Print nothing; only set the exit status.");
  o.flag("-w,--watch", a.watch,
         "Report the next change of each node, or its creation if it does not exist.");
  o.nodes("path", a.paths, "The nodes to check.");
}

int run(Context& cx, const Args& a) {
  const auto paths = mapped(a.paths, [&](const std::string& word) { return cx.resolve(word); });
  cx.client.await_connection(paths.front(), cx.stop);
  const auto start = [&](const std::string& path) {
    return cx.client.start_exists(path, cx.printed_watch(a.watch));
  };
  const auto answers = mapped(paths, start);
  bool all = true;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const auto outcome = cx.client.insist(
        answers[i], paths[i], [&] { return start(paths[i]); }, cx.stop);
    // ZooKeeper 3.8.4, 3.9.2 and later refuse a node that may not be read only if it exists.
    const bool exists = outcome.code == code::ok || (outcome.code == code::no_auth && !a.watch);
    if (!exists && outcome.code != code::no_node) throw ZkError(outcome.code, paths[i]);
    if (!a.quiet)
      print_result(cx, path_json(paths[i]).set("exists", exists),
                   fmt::format("{}{}", cx.out.plain() ? "" : cx.out.shown(paths[i]) + ": ",
                               exists ? "yes" : "no"));
    all = all && exists;
  }
  return all ? status::ok : status::failure;
}

}  // namespace

extern const Command exists_command = make_command<Args>(
    {.name = "exists",
     .group = "Nodes",
     .summary = "Check whether nodes exist",
     .details = "The exit status is 0 if all nodes exist, and 1 if any does not; failures have "
                "other statuses. Needs no permission on the nodes, except for -w with ZooKeeper "
                "3.8.4, 3.9.2 and later. Patterns are not expanded. To wait for a node, use `wait "
                "--exists`.",
     .examples = {{"exists /zookeeper", "Exits with status 0."},
                  {"exists / /zookeeper/config", "Check two nodes."}},
     .json = "path exists",
     .json_fields = {{"exists", "boolean", "Whether the node exists."}}},
    declare, run);
}  // namespace zksh::command_exists
