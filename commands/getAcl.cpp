// getAcl: show who may do what with a node.
#include "client/acl_text.h"
#include "command/command.h"
#include "node/listing.h"
#include "node/node_json.h"

namespace zksh::command_getAcl {
namespace {

struct Args {
  bool stat = false;
  std::string path;
};

void declare(Options& o, Args& a) {
  o.flag("-s,--stat", a.stat, "Print the node's Stat below the list.");
  o.node("path", a.path, "The node whose ACL is shown.");
}

int print(Context& cx, bool with_stat, const std::string& path, const NodeAcl& node) {
  if (cx.out.json()) {
    auto json = path_json(path);
    json.set("acl", acl_json(node.acl));
    if (with_stat) json.set("stat", stat_json(node.stat));
    print_json(cx, json);
    return status::ok;
  }
  if (cx.out.plain()) {
    for (const auto& entry : node.acl)
      cx.out.line("{}:{}:{}", cx.out.shown(entry.scheme), cx.out.shown(entry.id),
                  perm_letters(entry.perms));
  } else {
    const auto lines = acl_lines(node.acl);
    cx.out.out(cx.out.shown_lines(lines));
  }
  if (with_stat) print_stat(cx, node.stat);
  return status::ok;
}

Sent run(Context& cx, const Args& a) {
  const auto path = cx.resolve(a.path);
  cx.client.await_connection(path, cx.stop);
  const auto pending = cx.client.start_get_acl(path);
  return {path, pending, [&cx, with_stat = a.stat, path, pending] {
            return print(cx, with_stat, path, cx.client.answer_of(pending, path, cx.stop));
          }};
}

}  // namespace

extern const Command getAcl_command = make_command<Args>(
    {.name = "getAcl",
     .group = "Access",
     .summary = "Show a node's ACL",
     .keywords = {"permission", "rights", "access", "security", "owner"},
     .details = "Each entry is an identity (scheme and id) and its permissions: c create children, "
                "d delete children, r read, w write, a set the ACL. With -o plain an entry is one "
                "line, as setAcl takes it. Digest hashes show as x to those who may not set the "
                "ACL, and always with -o json.",
     .examples = {{"getAcl /zookeeper", "The ACL."},
                  {"getAcl -s /zookeeper", "The ACL and the Stat."}},
     .zkcli_syntax = "[-s] path",
     .pages = true},
    declare, run);
}  // namespace zksh::command_getAcl
