// cd: change the current node.
#include "client/client.h"
#include "command/command.h"
#include "command/current_node.h"
#include "node/node_json.h"

namespace zksh::command_cd {
namespace {

struct Args {
  std::optional<std::string> path;
};

void declare(Options& o, Args& a) {
  o.node("path", a.path, "The node to go to; - is the previous one; by default the root.");
}

std::string target(const Context& cx, const Args& a) {
  if (!a.path) return "/";
  if (*a.path != "-") {
    const auto paths = cx.resolve_all({absolute_path(cx.current.path(), *a.path)});
    if (paths.size() > 1) throw ValueError(fmt::format("{} nodes match {}", paths.size(), *a.path));
    return paths.front();
  }
  auto previous = cx.current.previous();
  if (!previous) throw ValueError("cd -: there is no previous node");
  return *previous;
}

int run(Context& cx, const Args& a) {
  const auto path = target(cx, a);
  if (!cx.client.exists(path, Watch::none(), cx.stop)) throw ZkError(code::no_node, path);
  cx.current.go_to(path);
  if (a.path != "-") return status::ok;
  print_result(cx, path_json(path), cx.out.shown(path));
  return status::ok;
}

}  // namespace

extern const Command cd_command = make_command<Args>(
    {.name = "cd",
     .group = "Shell",
     .summary = "Change the current node",
     .keywords = {"chdir", "directory"},
     .details = "Relative paths start at the current node; . and .. work as in a file system. The "
                "current node exists only in zksh: servers see absolute paths. The prompt shows it "
                "when it is not the root. Connecting to other servers goes back to the root.",
     .examples = {{"cd /app", "Go to a node."},
                  {"create jobs/nightly", "Creates /app/jobs/nightly."},
                  {"cd ..", "Go to its parent."},
                  {"cd -", "Go back to the previous node and print its path."}},
     .json = "path"},
    declare, run);
}  // namespace zksh::command_cd
