// exists: report by exit status whether nodes exist.
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
  o.flag("-q,--quiet", a.quiet, "Print nothing: the exit status tells.");
  o.flag("-w,--watch", a.watch,
         "Report the next change of each node; of a missing one, its creation.");
  o.nodes("path", a.paths, "The nodes to look for.");
}

void print(Context& cx, const std::string& path, bool exists) {
  if (cx.out.json()) return print_json(cx, path_json(path).set("exists", exists));
  cx.out.line("{}{}", cx.out.plain() ? "" : cx.out.shown(path) + ": ", exists ? "yes" : "no");
}

int run(Context& cx, const Args& a) {
  cx.client.await_connection("/", cx.stop);
  std::vector<std::string> paths;
  std::vector<Pending<Stat>> answers;
  for (const auto& word : a.paths) {
    paths.push_back(cx.resolve(word));
    answers.push_back(cx.client.start_exists(paths.back(), cx.printed_watch(a.watch)));
  }
  bool all = true;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const auto outcome = cx.client.await(answers[i], cx.stop);
    if (outcome.code != code::ok && outcome.code != code::no_node)
      throw ZkError(outcome.code, paths[i]);
    if (!a.quiet) print(cx, paths[i], outcome.code == code::ok);
    all = all && outcome.code == code::ok;
  }
  return all ? status::ok : status::failure;
}

}  // namespace

extern const Command exists_command = make_command<Args>(
    {.name = "exists",
     .group = "Nodes",
     .summary = "Tell whether nodes exist",
     .details = "The exit status is 0 when all do, 1 when one does not, so that a script need not "
                "tell a missing node from a failure. Needs no permission to read the nodes. "
                "Patterns are not expanded. `wait --exists` waits until a node does.",
     .examples = {{"exists /zookeeper", "Ends with status 0."},
                  {"exists / /zookeeper/config", "Looks for two."}},
     .json = "path exists",
     .strict = true},
    declare, run);
}  // namespace zksh::command_exists
