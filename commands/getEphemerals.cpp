// getEphemerals: list the ephemeral nodes of this session.
#include "command.h"
#include "node_json.h"
#include "unlisted.h"
#include "walk.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace zksh {
namespace {

struct Args {
  std::optional<std::string> prefix;
};

void declare(Options& o, Args& a) {
  o.node("path", a.prefix, "Only nodes whose path begins with this text, such as /app/job-.");
}

/// Where the nodes are whose path begins with the prefix: the prefix need not end where a name
/// does.
std::vector<std::string> tops_of(Context& cx, const std::string& prefix,
                                 const StatVisitor& visitor) {
  if (prefix == "/") return {prefix};
  const std::string parent(parent_path(prefix));
  cx.client.await_connection(prefix, cx.stop);
  const auto children = cx.client.await(cx.client.start_children(parent, Watch::none()), cx.stop);
  if (children.code == code::no_node) return {};
  if (children.code == code::no_auth) {
    // The names are hidden, but the node of exactly this path can be looked at.
    visitor.unlisted(ZkError(children.code, parent));
    return {prefix};
  }
  if (children.code != code::ok) throw ZkError(children.code, parent);
  std::vector<std::string> tops;
  for (const auto& name : children.value.names)
    if (auto path = join_path(parent, name); path.starts_with(prefix))
      tops.push_back(std::move(path));
  return tops;
}

void print_paths(Context& cx, std::vector<std::string> paths) {
  std::ranges::sort(paths);
  if (cx.out.json()) {
    for (const auto& path : paths) print_json(cx, path_json(path));
    return;
  }
  for (auto& path : paths) path = cx.out.shown(path);
  if (!cx.out.plain())
    cx.out.line("[{}]", fmt::join(paths, ", "));
  else
    for (const auto& path : paths) cx.out.line("{}", path);
}

int run(Context& cx, const Args& a) {
  const auto prefix = cx.resolve(a.prefix.value_or("/"));
  cx.client.await_connection(prefix, cx.stop);
  const auto owner = cx.client.session_id();
  std::vector<std::string> ephemerals;
  Unlisted unlisted;
  const StatVisitor visitor{.visit =
                                [&](const std::string& path, const Stat& stat) {
                                  if (stat.ephemeral_owner == owner) ephemerals.push_back(path);
                                },
                            .unlisted = [&](const ZkError& error) { unlisted.add(error.path()); }};
  visit_stats(cx.client, tops_of(cx, prefix, visitor), visitor, cx.stop);
  print_paths(cx, std::move(ephemerals));
  return unlisted.report(cx);
}

}  // namespace

extern const Command getEphemerals_command = make_command<Args>(
    {.name = "getEphemerals",
     .group = "Session",
     .summary = "List the ephemeral nodes of this session",
     .details =
         "The paths are sorted. How it is done: the ZooKeeper C client has no call for it, so zksh "
         "walks the tree, below the prefix where one is given, with many requests in flight, and "
         "compares each node's owner with this session. It needs the permission READ on every node "
         "that has children; where that is missing, the rest is listed, the status is 7, and "
         "stderr "
         "says so.",
     .examples = {{"create -e /app/me", "An ephemeral node;"},
                  {"getEphemerals", "all that this session has,"},
                  {"getEphemerals /app/m", "and those whose path begins so."}},
     .zkcli_syntax = "path",
     .pages = true},
    declare, run);
}  // namespace zksh
