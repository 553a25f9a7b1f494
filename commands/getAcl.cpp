// getAcl: print a node's ACL.
#include "client/acl_text.h"
#include "command/command.h"
#include "command/output.h"
#include "command/work.h"
#include "command/zkcli_style.h"
#include "node/acl_argument.h"
#include "node/listing.h"
#include "node/node_json.h"
#include "tree/skipped_nodes.h"
#include "tree/walk.h"

namespace zksh::command_getAcl {
namespace {

struct Args {
  bool stat = false;
  bool recursive = false;
  bool changes = false;
  WorkOptions limits;
  std::vector<std::string> paths;
};

void declare(Options& o, Args& a) {
  o.flag("-s,--stat", a.stat, "Print the node's Stat below the list.");
  o.flag("-R,--recursive", a.recursive,
         "Also show the ACLs of all nodes below: one line each, ACL, tab, path.");
  o.flag("--changes", a.changes,
         "With -R: only the top and nodes whose ACL differs from their parent's, or may, since a "
         "hash is hidden.");
  declare_work_limits(o, a.limits);
  o.nodes("path", a.paths, "The nodes.");
}

/// `stat`: null if it is hidden.
Json json_of(const Args& a, const std::string& path, const Acl& acl, const Stat* stat) {
  auto json = path_json(path);
  json.set("acl", acl_json(acl));
  if (a.stat) json.set("stat", stat ? stat_json(*stat) : Json());
  return json;
}

void print(Context& cx, const Args& a, const std::string& path, const NodeAcl& node) {
  if (cx.out.json()) return print_json(cx, json_of(a, path, node.acl, &node.stat));
  if (cx.out.plain() || prints_for_prompt(cx)) {
    for (const auto& entry : node.acl)
      cx.out.line("{}:{}:{}", cx.out.shown(entry.scheme), cx.out.shown(entry.id),
                  perm_letters(entry.perms));
  } else {
    cx.out.out(cx.out.shown_lines(acl_lines(node.acl)));
  }
  if (a.stat) print_stat(cx, node.stat);
}

int print_subtrees(Context& cx, const Args& a, const std::vector<std::string>& tops) {
  ResultLines lines(cx.out);
  SkippedNodes skipped(cx, "read");
  std::vector<Acl> above;  // of the current node's ancestors
  const auto enter = [&](const TreeNode& node) {
    if (!node.acl_readable || node.hides_children()) skipped.add(node.path);
    const bool same = node.depth > 0 && above[node.depth - 1] == node.acl && !hides_hash(node.acl);
    above.resize(node.depth);
    above.push_back(node.acl);
    if (!node.acl_readable || (a.changes && same)) return;
    lines.add_result(
        [&] { return json_of(a, node.path, node.acl, node.stat_readable ? &node.stat : nullptr); },
        [&] { return cx.out.shown(acl_text(node.acl)) + '\t' + cx.out.shown(node.path); });
  };
  lines.during([&] {
    walk_tree(cx.client, {.tops = tops, .acls = true, .limits = a.limits.limits(), .enter = enter},
              cx.stop);
  });
  return skipped.report();
}

Sent run(Context& cx, const Args& a) {
  if (a.changes && !a.recursive) throw ValueError("--changes needs -R");
  if (a.recursive && a.stat && !cx.out.json()) throw ValueError("-s with -R needs -o json");
  // On piped input zkCli's grammar applies, which ignores the words that follow.
  const auto paths =
      cx.resolve_all(cx.input == Input::Pipe ? std::vector{a.paths.front()} : a.paths);
  if (a.recursive) return print_subtrees(cx, a, paths);
  const auto start = [&cx](const std::string& node) { return cx.client.start_get_acl(node); };
  const auto print_node = [&cx, a](const std::string& node, const NodeAcl& acl) {
    print(cx, a, node, acl);
  };
  return read_each(cx, paths, start, print_node);
}

}  // namespace

extern const Command getAcl_command = make_command<Args>(
    {.name = "getAcl",
     .group = "Access",
     .summary = "Show a node's ACL",
     .keywords = {"acl", "permission", "rights", "access", "security", "owner", "users"},
     .details =
         "Each entry is an identity (scheme and ID) and its permissions: c create children, "
         "d delete children, r read, w write, a set the ACL. At the prompt and with -o plain, "
         "each entry is on a line, as setAcl takes it; `conf zkcli-output on` prints zkCli's "
         "lines. Digest hashes show as x if you may not set "
         "the ACL, and always with -o json. -R lists the subtree in the order of `find`; "
         "nodes that may not be read are left out, and the status is 7.",
     .examples = {{"getAcl /zookeeper", "The ACL."},
                  {"getAcl -s /zookeeper", "The ACL and the Stat."},
                  {"getAcl -R --changes /app", "Who may do what, and where it changes."}},
     .json = "path acl [stat]",
     .zkcli_syntax = "[-s] path",
     .pages = true},
    declare, run);
}  // namespace zksh::command_getAcl
