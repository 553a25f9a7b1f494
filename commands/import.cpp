// import: create nodes from a file or a directory of files.
#include "base/file.h"
#include "base/number.h"
#include "base/quoting.h"
#include "command/command.h"
#include "command/progress.h"
#include "command/work_account.h"
#include "command/work_options.h"
#include "node/node_json.h"
#include "node/parents.h"
#include "tree/batch_writer.h"
#include "tree/file_tree.h"
#include "tree/walk.h"

#include <map>

namespace zksh::command_import {
namespace {

struct Args {
  WorkOptions limits;
  std::string file;
  std::string path;
};

void declare(Options& o, Args& a) {
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

/// Writes what differs: first the existing nodes, each in the version that was read, then the
/// missing ones.
class Import {
 public:
  Import(Context& cx, const WorkLimits& limits, const NodeFiles& files, Progress& progress)
      : cx_(cx),
        limits_(limits),
        files_(files),
        writer_(
            cx.client, {.limits = limits},
            [this, &progress](const Write& write, const Written& result) {
              take(write, result);
              progress.reach(counts_.created + counts_.set + counts_.unchanged,
                             files_.nodes.size());
            },
            cx.stop) {}

  const Counts& counts() const { return counts_; }
  std::size_t in_flight() const { return writer_.in_flight(); }

  void run() {
    std::map<std::string_view, const NodeFile*> missing;
    for (const auto& node : files_.nodes) missing.emplace(node.path, &node);
    const auto enter = [&](const TreeNode& node) {
      const auto found = missing.find(node.path);
      if (found == missing.end()) return;
      set_where_it_differs(*found->second, node);
      missing.erase(found);
    };
    walk_tree(cx_.client,
              {.tops = {files_.nodes.front().path},
               .may_be_missing = true,
               .data = true,
               .limits = limits_,
               .enter = enter},
              cx_.stop);
    for (const auto& node : files_.nodes) {
      if (failure_) break;
      if (missing.contains(node.path))
        writer_.add(CreateOp{.path = node.path, .data = value_in(node)});
    }
    writer_.finish();
    if (failure_) throw ZkError(*failure_);
  }

 private:
  /// A directory without a value leaves the node's value unchanged.
  void set_where_it_differs(const NodeFile& file, const TreeNode& node) {
    if (!node.readable) throw ZkError(code::no_auth, node.path);
    auto value = value_in(file);
    if (!value || value == node.data)
      ++counts_.unchanged;
    else
      writer_.add(SetOp{.path = node.path, .data = std::move(value), .version = node.stat.version});
  }

  void take(const Write& write, const Written& result) {
    const bool creates = std::holds_alternative<CreateOp>(write);
    if (result.code == code::ok ||
        (result.sent_before && already_done(cx_.client, write, result.code, cx_.stop)))
      ++(creates ? counts_.created : counts_.set);
    else if (!failure_)
      failure_ = error_of(write, result);
  }

  Context& cx_;
  WorkLimits limits_;
  const NodeFiles& files_;
  Counts counts_{};
  std::optional<ZkError> failure_{};
  BatchWriter writer_;
};

int run(Context& cx, const Args& a) {
  const auto top = cx.resolve(a.path);
  const auto files = files_below(with_home(a.file), top);
  require_parent(cx.client, top, cx.stop);
  Progress progress(cx.out, cx.background, "nodes imported");
  Import work(cx, a.limits.limits(), files, progress);
  const auto& counts = work.counts();
  report_if_incomplete(
      cx, progress, [&] { work.run(); },
      [&] {
        if (counts.created + counts.set + work.in_flight() == 0) return std::string();
        return fmt::format("created {}, set {}; {}; run import again to continue", counts.created,
                           counts.set, unknown_text(work.in_flight()));
      });
  if (cx.out.json())
    print_json(cx, path_json(top)
                       .set("created", counts.created)
                       .set("set", counts.set)
                       .set("unchanged", counts.unchanged));
  else
    cx.out.line("created {}, set {}, unchanged {}", counts.created, counts.set, counts.unchanged);
  if (files.hidden > 0) cx.out.err_line("{} left out", counted_were(files.hidden, "hidden file"));
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
         "6. If import is interrupted, run it again.",
     .examples = {{"create /app/port 2181", "A value,"},
                  {"export /app app.d", "in a file,"},
                  {"import app.d /copy", "Import it under another name."}},
     .json = "path created set unchanged",
     .strict = true,
     .writes = true},
    declare, run);
}  // namespace zksh::command_import
