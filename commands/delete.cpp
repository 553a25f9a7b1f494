// delete: remove a node without children.
#include "base/number.h"
#include "command/command.h"
#include "command/zkcli_style.h"
#include "node/listing.h"

namespace zksh::command_delete {
namespace {

struct Args {
  std::optional<std::int32_t> version;
  std::vector<std::string> paths;
};

void declare(Options& o, Args& a) {
  o.instead_of("-r,-R", "`deleteall` deletes the nodes below, too");
  o.instead_of("-f", "`deleteall -y` deletes the nodes below, too, and asks nothing");
  o.number("-v,--version", a.version, "version",
           "Delete only if this is the data version; -1 matches any.");
  o.nodes("path", a.paths, "The nodes to delete.");
}

/// zkCli 3.8 accepts any word here, reports the form as deprecated, and ignores the word; 3.4 read
/// a version, and did not remove the node if that did not match. What begins like a number is
/// refused as one, rather than ignored.
std::int32_t requested_version(const Context& cx, const Args& a, const NodeWords& given) {
  if (a.version) return *a.version;
  if (!given.legacy || !old_version_counts(cx) || !begins_as_number(*given.legacy)) return -1;
  return static_cast<std::int32_t>(parse_number(*given.legacy, "version", INT32_MIN, INT32_MAX));
}

Sent remove(Context& cx, const std::string& path, std::int32_t version) {
  cx.client.await_connection(path, cx.stop);
  const auto pending = cx.client.start_remove({.path = path, .version = version});
  return {path, pending, [&cx, path, pending] {
            cx.client.written(pending, path, 0, cx.stop);
            return status::ok;
          }};
}

constexpr DeprecatedForm old_form{"delete path [version]", "delete [-v version] path"};

Sent run(Context& cx, const Args& a) {
  const auto given = node_words(cx, a.paths, is_number, &old_form);
  const auto version = requested_version(cx, a, given);
  if (given.paths.size() == 1) return remove(cx, given.paths.front(), version);
  return each_node(cx, given.paths,
                   [&](const std::string& path) { return remove(cx, path, version).finish(); });
}

Op operation(Context& cx, const Args& a) {
  const auto given = node_words(cx, a.paths, is_number, nullptr);
  if (given.paths.size() > 1)
    throw ValueError("delete takes one node in a transaction; use one operation per node");
  return RemoveOp{.path = given.paths.front(), .version = requested_version(cx, a, given)};
}

}  // namespace

extern const Command delete_command = make_command<Args>(
    {.name = "delete",
     .group = "Nodes",
     .summary = "Delete a node that has no children",
     .keywords = {"remove", "rm", "unlink", "del", "rmdir"},
     .details =
         "Prints nothing on success. If one of several nodes cannot be deleted, the others still "
         "are; each failure is reported, and the status is that of the first. `deleteall` deletes "
         "a whole subtree. A number after a single node is zkCli 3.4's form of -v.",
     .examples = {{"delete /app/config", "Delete a node."},
                  {"delete -v 0 /app/jobs", "Only if its value was never changed."}},
     .zkcli_syntax = "[-v version] path",
     .writes = true},
    declare, run, operation);
}  // namespace zksh::command_delete
