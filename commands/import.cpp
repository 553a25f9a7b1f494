// import: create nodes from a file or a directory of files.
#include "base/fd.h"
#include "base/number.h"
#include "command/command.h"
#include "command/work.h"
#include "node/node_json.h"
#include "node/parents.h"
#include "tree/batch_writer.h"
#include "tree/file_tree.h"
#include "tree/sequence_counters.h"
#include "tree/walk.h"

#include <map>

namespace zksh::command_import {
namespace {

struct Args {
  WorkOptions limits;
  std::optional<std::int64_t> counter_steps;
  std::string file;
  std::string path;
};

void declare(Options& o, Args& a) {
  declare_counters(o, a.counter_steps);
  declare_work_limits(o, a.limits);
  o.file("file", a.file, "The file or directory.");
  o.node("path", a.path, "The node to create or update; its parent must exist.");
}

struct Counts {
  std::size_t created = 0;
  std::size_t set = 0;
  std::size_t unchanged = 0;
};

Data value_in(const NodeFile& node) {
  return node.file ? Data(read_file(*node.file)) : std::nullopt;
}

/// Sets the values of existing nodes where they differ, each in the version that was read. Returns
/// the files whose nodes are missing, by path. A directory without a value leaves its node's value
/// unchanged.
std::map<std::string_view, const NodeFile*> update_existing(Context& cx, const WorkLimits& limits,
                                                            const NodeFiles& files,
                                                            BatchWriter& writer, Counts& counts) {
  std::map<std::string_view, const NodeFile*> missing;
  for (const auto& node : files.nodes) missing.emplace(node.path, &node);
  const auto enter = [&](const TreeNode& node) {
    const auto found = missing.find(node.path);
    if (found == missing.end()) return;
    if (!node.readable) throw ZkError(code::no_auth, node.path);
    auto value = value_in(*found->second);
    if (!value || value == node.data)
      ++counts.unchanged;
    else
      writer.add(SetOp{.path = node.path, .data = std::move(value), .version = node.stat.version});
    missing.erase(found);
  };
  walk_tree(cx.client,
            {.tops = {files.nodes.front().path},
             .may_be_missing = true,
             .data = true,
             .limits = limits,
             .enter = enter},
            cx.stop);
  return missing;
}

Counts import_all(Context& cx, const WorkLimits& limits, const NodeFiles& files,
                  SequenceCounters& counters) {
  Counts counts;
  std::optional<ZkError> failure;
  Progress progress(cx.out, cx.background, "nodes imported");
  const auto take = [&](const Write& write, const Written& result) {
    const bool creates = std::holds_alternative<CreateOp>(write);
    if (result.code == code::ok ||
        (result.sent_before && already_done(cx.client, write, result.code, cx.stop)))
      ++(creates ? counts.created : counts.set);
    else if (!failure)
      failure = error_of(write, result);
    progress.reach(counts.created + counts.set + counts.unchanged, files.nodes.size());
  };
  BatchWriter writer(cx.client, {.limits = limits}, take, cx.stop);
  const auto write_all = [&] {
    const auto missing = update_existing(cx, limits, files, writer, counts);
    for (const auto& node : files.nodes) {
      const bool create = missing.contains(node.path);
      counters.add(node.path, create);
      if (create && !failure) writer.add(CreateOp{.path = node.path, .data = value_in(node)});
    }
    writer.finish();
    if (failure) throw ZkError(*failure);
  };
  report_if_incomplete(cx, progress, write_all, [&] {
    if (counts.created + counts.set + writer.in_flight() == 0) return std::string();
    return fmt::format("created {}, set {}; {}; run import again to continue", counts.created,
                       counts.set, unknown_text(writer.in_flight()));
  });
  return counts;
}

int run(Context& cx, const Args& a) {
  const auto top = cx.resolve(a.path);
  SequenceCounters counters(
      {.most_steps = a.counter_steps, .repeatable = true, .limits = a.limits.limits()});
  const auto files = files_below(with_home(a.file), top);
  require_parent(cx.client, top, cx.stop);
  const auto counts = import_all(cx, a.limits.limits(), files, counters);
  print_result(cx,
               path_json(top)
                   .set("created", counts.created)
                   .set("set", counts.set)
                   .set("unchanged", counts.unchanged),
               fmt::format("created {}, set {}, unchanged {}", counts.created, counts.set,
                           counts.unchanged));
  if (files.hidden > 0) cx.out.err_line("{} left out", counted_were(files.hidden, "hidden file"));
  counters.finish(cx);
  return status::ok;
}

}  // namespace

extern const Command import_command = make_command<Args>(
    {.name = "import",
     .group = "Trees",
     .summary = "Import a file or directory as nodes",
     .keywords = {"restore", "files", "load", "upload"},
     .details =
         "Turns files into nodes, as `export` writes them. A file becomes a node with its bytes. A "
         "directory becomes a node with a child for each file in it; its own value is in the file "
         ".value. In file names, % and two hexadecimal digits stand for a byte. Other files whose "
         "names begin with a dot are left out and counted. Existing nodes get the file's value if "
         "it differs, and keep their ACLs; without .value, the node of a directory keeps its "
         "value. Nodes that have no file stay. All names are checked first: if one cannot be a "
         "node name, nothing is changed. If somebody else changes a node meanwhile, the status is "
         "6. If import is interrupted, run it again.\n\nThe sequence counter of a new node starts "
         "at "
         "0, and counts what is created below it. import warns if `create -s` would take a number "
         "that is not higher than those of children among the files. --advance-counters creates "
         "and deletes a node for each step; it does so too if import has nothing else to do.",
     .examples = {{"create /app/port 2181", "A value,"},
                  {"export /app app.d", "in a file,"},
                  {"import app.d /copy", "Import it under another name."}},
     .json = "path created set unchanged",
     .writes = true},
    declare, run);
}  // namespace zksh::command_import
