// touch: create a node, or rewrite its value.
#include "client/read_ahead.h"
#include "node/node_failures.h"
#include "node/node_json.h"
#include "node/parents.h"
#include "node/value.h"

namespace zksh::command_touch {
namespace {

struct Args {
  bool no_create = false;
  bool parents = false;
  std::vector<std::string> paths;
};

void declare(Options& o, Args& a) {
  o.flag("-c,--no-create", a.no_create, "Do not create missing nodes.");
  o.flag("-p,--parents", a.parents, "Create missing parents, too.");
  o.nodes("path", a.paths, "The nodes.");
}

void touch(Context& cx, const Args& a, const std::string& path) {
  bool created = false;
  cx.client.await_connection(path, cx.stop);
  auto node = ahead_get(cx.client, path).found(cx.stop);
  if (!node) {
    if (a.no_create) return;
    if (a.parents) create_parents(cx.client, path, cx.stop);
    created = create_if_missing(cx.client, {.path = path, .data = {}}, cx.stop);
  }
  std::optional<Stat> stat;
  if (!created)
    stat = change_value(
        cx.client, path, [](const Node& now) { return std::optional<Data>(now.data); }, cx.stop,
        std::move(node));
  acknowledge(
      cx,
      path_json(path).set("isNew", created).set("version", stat ? Json(stat->version) : Json(0)));
}

int run(Context& cx, const Args& a) {
  return each_node(cx, cx.resolve_all(a.paths), [&](const std::string& path) {
    touch(cx, a, path);
    return status::ok;
  });
}

}  // namespace

extern const Command touch_command = make_command<Args>(
    {.name = "touch",
     .group = "Nodes",
     .summary = "Create a node, or rewrite its value",
     .keywords = {"create", "exists"},
     .details = "Creates a missing node with a null value. If the node exists, writes its value "
                "again, which changes its version and mtime and triggers its watches. If somebody "
                "else writes meanwhile, their value stays. Prints nothing on success.",
     .examples = {{"touch /app/flag", "Create a node."},
                  {"touch /app/flag", "Its version is now 1."}},
     .json = "path isNew version",
     .json_fields = {{"isNew", "boolean", "Whether the node was created."}},
     .writes = true},
    declare, run);
}  // namespace zksh::command_touch
