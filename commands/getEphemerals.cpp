// getEphemerals: list the ephemeral nodes of this session.
#include "base/java.h"
#include "base/mapped.h"
#include "client/client.h"
#include "command/command.h"
#include "config/settings.h"
#include "node/node_json.h"
#include "tree/skipped_nodes.h"
#include "tree/walk.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace zksh::command_getEphemerals {
namespace {

struct Args {
  std::optional<std::string> prefix;
};

void declare(Options& o, Args& a) {
  o.node("path", a.prefix, "Only nodes whose paths begin with this text, such as /app/job-.");
}

/// The tops of the nodes whose paths begin with the prefix, which may end within a name.
std::vector<std::string> tops_of(Context& cx, const std::string& prefix, SkippedNodes& skipped) {
  if (prefix == "/") return {prefix};
  const std::string parent(parent_path(prefix));
  cx.client.await_connection(prefix, cx.stop);
  const auto children = cx.client.ask(
      parent, [&] { return cx.client.start_children(parent, Watch::none()); }, cx.stop);
  if (children.code == code::no_node) return {};
  if (children.code == code::no_auth) {
    // The names are hidden, but the node with exactly this path can be read.
    skipped.add(parent);
    return {prefix};
  }
  if (children.code != code::ok) throw ZkError(children.code, parent);
  std::vector<std::string> tops;
  for (const auto& name : children.value.names.strings())
    if (auto path = join_path(parent, name); path.starts_with(prefix))
      tops.push_back(std::move(path));
  return tops;
}

/// `paths`: in the order of zkCli.
void print_paths(Context& cx, std::vector<std::string> paths) {
  if (!cx.out.text()) {
    std::ranges::sort(paths);
    for (const auto& path : paths) print_result(cx, path_json(path), cx.out.shown(path));
    return;
  }
  for (auto& path : paths) path = cx.out.shown(path);
  cx.out.line("[{}]", fmt::join(paths, ", "));
}

int run(Context& cx, const Args& a) {
  const auto prefix = cx.resolve(a.prefix.value_or("/"));
  // zkCli's errors do not name the path.
  const auto named = cx.services.settings.drop_in ? "" : prefix;
  cx.client.learn_server(named, cx.stop);
  const auto asked = cx.client.ask(
      named, [&] { return cx.client.start_get_ephemerals(prefix); }, cx.stop);
  if (asked.code == code::ok) {
    auto paths = asked.value;
    sort_as_cloned_java_set(paths);  // changes nothing unless they were seen through a chroot
    print_paths(cx, std::move(paths));
    return status::ok;
  }
  if (asked.code != code::unimplemented) throw ZkError(asked.code, named);
  const auto owner = cx.client.session_id();
  std::multimap<std::int64_t, std::string> ephemerals;  // by czxid
  SkippedNodes skipped(cx);
  const auto enter = [&](const TreeNode& node) {
    if (node.stat.ephemeral_owner == owner) ephemerals.emplace(node.stat.czxid, node.path);
    if (node.hides_children()) skipped.add(node.path);
  };
  walk_tree(cx.client,
            {.tops = tops_of(cx, prefix, skipped), .may_be_missing = true, .enter = enter},
            cx.stop);
  // Servers keep the nodes in a hash table, which is known only in part if a prefix is given.
  auto paths = mapped(ephemerals, [](const auto& one) { return one.second; });
  sort_as_cloned_java_set(paths);
  print_paths(cx, std::move(paths));
  return skipped.report();
}

}  // namespace

extern const Command getEphemerals_command = make_command<Args>(
    {.name = "getEphemerals",
     .group = "Session",
     .summary = "List the ephemeral nodes of this session",
     .keywords = {"ephemeral", "session", "owner"},
     .details =
         "A server of ZooKeeper 3.6 or later knows them. With an older one, or one that does not "
         "say its version (srvr), zksh walks the tree (below the prefix, if given), and compares "
         "each node's owner with this session: it needs the READ permission on every node that has "
         "children; nodes that may not be listed are skipped and named on stderr, and the status "
         "is 7. The order is that of zkCli, a hash table's; with -o plain and -o json the paths "
         "are sorted.",
     .examples = {{"create -e /app/me", "Create an ephemeral node."},
                  {"getEphemerals", "All ephemeral nodes of this session."},
                  {"getEphemerals /app/m", "Only those that begin with this prefix."}},
     .json = "path",
     .zkcli_syntax = "path",
     .pages = true},
    declare, run);
}  // namespace zksh::command_getEphemerals
