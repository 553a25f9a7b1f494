// dump: write a subtree as lines of text that apply and diff read.
#include "command/command.h"
#include "command/progress.h"
#include "command/work_options.h"
#include "tree/live_tree.h"
#include "tree/tree_copy.h"
#include "tree/tree_text.h"
#include "tree/walk.h"

namespace zksh::command_dump {
namespace {

struct Args {
  WorkOptions limits;
  std::string path;
};

void declare(Options& o, Args& a) {
  declare_work_limits(o, a.limits);
  o.node("path", a.path, "The top of the subtree.");
}

int run(Context& cx, const Args& a) {
  constexpr std::size_t chunk = 64U << 10U;
  const auto top = cx.resolve(a.path);
  const auto format = cx.out.json() ? TreeFormat::JsonLines : TreeFormat::Text;
  const auto quotas = limits_below(cx.client, top, cx.stop);
  Progress progress(cx.out, cx.background, "nodes");
  std::size_t ephemerals = 0;
  auto text = tree_header(format, top);
  WalkPlan plan{.tops = {top}, .data = true, .acls = true, .limits = a.limits.limits()};
  plan.enter = [&](TreeNode& node) {
    progress.advance();
    if (is_servers_own(node.path, top)) return;
    const auto found = found_node(node, top, quotas);
    if (found.record.life.kind == NodeKind::Ephemeral) {
      ++ephemerals;
      return;
    }
    require_whole(found, node.path);
    text += tree_line(format, found.record);
    if (text.size() < chunk) return;
    cx.out.out(text);
    text.clear();
  };
  walk_tree(cx.client, plan, cx.stop);
  text += tree_end(format, ephemerals);
  cx.out.out(text);
  progress.end();
  if (ephemerals > 0)
    cx.out.err_line("{} ephemeral node{} left out", ephemerals,
                    ephemerals == 1 ? " was" : "s were");
  return status::ok;
}

}  // namespace

extern const Command dump_command = make_command<Args>(
    {.name = "dump",
     .group = "Trees",
     .summary = "Dump a subtree as text, for apply and diff",
     .keywords = {"backup", "export", "save", "snapshot"},
     .details =
         "A line for each node, with tabs between its path below the top, its kind (persistent, "
         "container, ttl=MILLISECONDS), its ACL, its data, and its quota where it has one. Data is "
         "null, a text in quotes, or base64:… if it is not UTF-8; \\n, \\t, \\\\ and \\xHH stand "
         "for bytes. The first line names the format, its version and the path, the last one is "
         "`end`; empty lines and those that begin with # are ignored. With -o json each line is a "
         "JSON object instead. A node stands before its children, and siblings in the order of "
         "their bytes: equal trees have equal texts, whatever their top.\n\n"
         "Servers do not tell clients that a node is a container or has a TTL: it is dumped as "
         "persistent, unless they do. Ephemeral nodes end with their sessions: they are left out "
         "and counted. What the servers keep below /zookeeper is not dumped with /. A node that "
         "may not be read, or an ACL whose hashes the servers hide, ends the dump, which then has "
         "no last line. It is not a snapshot: a change made while it runs may or may not be in it.",
     .examples = {{"dump /app > app.tree", "Keep a subtree in a file."},
                  {"dump /app | grep world:anyone", "Which nodes may everybody change?"}},
     .json = "format version path | path kind acl data [ttl] [quota] | end [ephemeralsLeftOut]",
     .strict = true,
     .pages = true},
    declare, run);
}  // namespace zksh::command_dump
