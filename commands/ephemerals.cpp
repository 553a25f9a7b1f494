// ephemerals: list the ephemeral nodes of a subtree with their sessions.
#include "command/command.h"
#include "command/output.h"
#include "command/work.h"
#include "node/node_json.h"
#include "tree/node_filter.h"
#include "tree/skipped_nodes.h"
#include "tree/walk.h"

namespace zksh::command_ephemerals {
namespace {

struct Args {
  std::optional<std::string> session;
  WalkOptions walk;
};

void declare(Options& o, Args& a) {
  declare_session(o, "-s,--session", a.session);
  declare_walk(o, a.walk);
}

int run(Context& cx, const Args& a) {
  std::optional<std::int64_t> session;
  if (a.session) session = requested_session(cx, *a.session, "--session");
  ResultLines lines(cx.out);
  SkippedNodes skipped(cx);
  const auto enter = [&](const TreeNode& node) {
    if (node.hides_children()) skipped.add(node.path);
    if (node.stat.ephemeral_owner == 0) return;
    if (session && node.stat.ephemeral_owner != *session) return;
    const auto owner = session_text(node.stat.ephemeral_owner);
    lines.add_result([&] { return path_json(node.path).set("ephemeralOwner", owner); },
                     [&] {
                       const auto path = cx.out.shown(node.path);
                       return session ? path : fmt::format("{}\t{}", owner, path);
                     });
  };
  walk_for_lines(cx, a.walk, {.enter = enter}, lines, skipped);
  return skipped.report();
}

}  // namespace

extern const Command ephemerals_command = make_command<Args>(
    {.name = "ephemerals",
     .group = "Trees",
     .summary = "List the ephemeral nodes of a subtree and their sessions",
     .keywords = {"ephemeral", "session", "owner"},
     .details =
         "Prints a line for each: the session ID, a tab, the path; with --session only the path. "
         "`who` shows the client of a session. Nodes whose children may not be listed are skipped, "
         "and the status is 7. For this session's nodes in zkCli's form, use getEphemerals.",
     .examples = {{"ephemerals /app", "All ephemeral nodes below /app."},
                  {"ephemerals --session me /", "The ones of this shell."}},
     .json = "path ephemeralOwner",
     .pages = true},
    declare, run);
}  // namespace zksh::command_ephemerals
