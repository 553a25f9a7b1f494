// export: write the values of a subtree to a directory of files.
#include "base/fd.h"
#include "base/number.h"
#include "base/text.h"
#include "command/command.h"
#include "command/work.h"
#include "node/node_json.h"
#include "tree/file_tree.h"
#include "tree/skipped_nodes.h"
#include "tree/tree_record.h"
#include "tree/walk.h"

#include <filesystem>
#include <system_error>

namespace zksh::command_export {
namespace {

struct Args {
  WorkOptions limits;
  std::string path;
  std::string directory;
};

void declare(Options& o, Args& a) {
  declare_work_limits(o, a.limits);
  o.node("path", a.path, "The top of the subtree.");
  o.file("directory", a.directory, "The directory to create; it must not exist yet.");
}

/// The file for a node, by its path relative to the top.
std::string file_of(const std::string& directory, std::string_view relative) {
  std::string file = directory;
  for (const auto name : split(relative, '/'))
    if (!name.empty()) file += '/' + file_name_of(name);  // empty before the first slash
  return file;
}

int run(Context& cx, const Args& a) {
  const auto top = cx.resolve(a.path);
  const auto directory = with_home(a.directory);
  std::error_code error;
  if (std::filesystem::exists(directory, error))
    throw Error(fmt::format("{} exists already; name a new directory, or remove it first",
                            cx.out.shown_in_error(directory)));
  std::size_t nodes = 0;
  std::size_t bytes = 0;
  std::size_t ephemerals = 0;
  SkippedNodes skipped(cx, "read");
  Progress progress(cx.out, cx.background, "nodes exported");
  WalkPlan plan{.tops = {top}, .data = true, .limits = a.limits.limits()};
  plan.enter = [&](TreeNode& node) {
    if (top == "/" && is_within(node.path, "/zookeeper")) return;
    if (!node.readable) return skipped.add(node.path);
    if (node.stat.ephemeral_owner != 0 && node.depth > 0) {
      ++ephemerals;
      return;
    }
    write_node_file(file_of(directory, path_from(top, node.path)), node.data,
                    node.stat.num_children > 0);
    bytes += node.data.value_or("").size();
    progress.reach(++nodes);
  };
  report_if_incomplete(
      cx, progress, [&] { walk_tree(cx.client, plan, cx.stop); },
      [&] {
        return nodes == 0
                   ? std::string()
                   : fmt::format("{} node{} in {}", nodes, nodes == 1 ? " is" : "s are", directory);
      });
  print_result(cx,
               path_json(top).set("directory", directory).set("nodes", nodes).set("bytes", bytes),
               fmt::format("{} exported to {}", counted(nodes, "node"), cx.out.shown(directory)));
  if (ephemerals > 0) cx.out.err_line("{} left out", counted_were(ephemerals, "ephemeral node"));
  return skipped.report();
}

}  // namespace

extern const Command export_command = make_command<Args>(
    {.name = "export",
     .group = "Trees",
     .summary = "Export the values of a subtree to a directory",
     .keywords = {"save", "files", "backup", "download"},
     .details =
         "Writes the values of a subtree as files, which `import` turns back into nodes. A node "
         "with a value and no children becomes a file that holds exactly its bytes. Any other node "
         "becomes a directory; its own value, unless null, goes to the file .value in it. Only you "
         "may read the files. In file names % is written as %25, and a leading dot as %2E; a name "
         "that is too long is an error. ACLs, quotas and kinds of nodes are not exported; use "
         "`dump` to keep them. Ephemerals below the top are left out and counted. Nodes that may "
         "not be read are left out, too, and the status is 7. If export is interrupted, what it "
         "has written stays: remove it, or export to another directory. It is not a snapshot.",
     .examples = {{"create /app/port 2181", "A value,"},
                  {"export /app app.d", "The value is in app.d/port."}},
     .json = "path directory nodes bytes",
     .json_fields = {{"directory", "text", "The directory on this machine."}}},
    declare, run);
}  // namespace zksh::command_export
