// mv: move a node and everything below it.
#include "base/mapped.h"
#include "base/number.h"
#include "base/words.h"
#include "client/node_path.h"
#include "client/read_ahead.h"
#include "command/command.h"
#include "command/work.h"
#include "node/node_json.h"
#include "node/parents.h"
#include "tree/batch_writer.h"
#include "tree/sequence_counters.h"
#include "tree/tree_apply.h"

#include <algorithm>
#include <deque>

namespace zksh::command_mv {
namespace {

struct Args {
  bool in_parts = false;
  bool parents = false;
  WorkOptions limits;
  std::optional<std::int64_t> counter_steps;
  std::string source;
  std::string target;
};

void declare(Options& o, Args& a) {
  o.flag("--in-parts", a.in_parts,
         "For subtrees too large for one transaction: copy, then delete; not atomic.");
  o.flag("-p,--parents", a.parents, "Create missing parents of the target, with null values.");
  o.instead_of("-f", "no node is replaced: delete the target first");
  o.instead_of("-n", "no node is replaced anyway");
  declare_counters(o, a.counter_steps);
  declare_work_limits(o, a.limits);
  o.node("source", a.source, "The node.");
  o.node("target", a.target, "The new path; it must not exist.");
}

// Half of the servers' default request limit (jute.maxbuffer, 1 MiB). A value counts twice: the
// transaction creates the new node with it, and writes it once more to the old one.
constexpr std::size_t most_bytes = 512U << 10U;

[[noreturn]] void refuse_ephemeral(const std::string& path) {
  throw Error(fmt::format("{} is ephemeral and cannot be moved", path), status::failure, path);
}

/// The bytes for a node's creation, last write and removal, including their headers.
std::size_t size_of(const FoundNode& node, const std::string& source, const std::string& target) {
  std::size_t bytes =
      64 + source.size() + target.size() + source.size() + 3 * node.record.path.size();
  if (node.record.data) bytes += 2 * node.record.data->size();
  for (const auto& entry : node.record.acl) bytes += 12 + entry.scheme.size() + entry.id.size();
  return bytes;
}

/// All nodes of the source; nullopt if they are too large for a transaction. Throws if the target
/// exists, or has no parent.
std::optional<std::vector<FoundNode>> read_small(Context& cx, const Args& a,
                                                 const std::string& source,
                                                 const std::string& target) {
  cx.client.await_connection(target, cx.stop);
  auto taken = ahead_exists(cx.client, target);
  auto parent = ahead_exists(cx.client, std::string(parent_path(target)));
  LiveTree tree(cx.client, {.top = source, .quotas = false, .limits = a.limits.limits()}, cx.stop);
  if (taken.found(cx.stop)) throw ZkError(code::node_exists, target);
  std::vector<FoundNode> nodes;
  std::size_t bytes = 0;
  while (auto node = tree.next()) {
    const auto path = path_below(source, node->record.path);
    if (node->record.life.kind == NodeKind::Ephemeral) refuse_ephemeral(path);
    require_whole(*node, path);
    bytes += size_of(*node, source, target);
    if (bytes > most_bytes) break;
    nodes.push_back(std::move(*node));
  }
  if (!a.parents) require_parent(parent, target, cx.stop);
  if (bytes > most_bytes) return std::nullopt;
  return nodes;
}

/// What a transaction cannot check: that a node is still the one that was read, with its ACL.
bool is_same(const Stat& now, const Stat& read) {
  return now.czxid == read.czxid && now.aversion == read.aversion;
}

/// What differs once a node's value or ACL was changed, or it was deleted and created again.
struct Revision {
  std::int64_t czxid = 0;
  std::int32_t version = 0;
  std::int32_t aversion = 0;

  bool operator==(const Revision&) const = default;
};

Revision revision_of(const Stat& stat) {
  return {.czxid = stat.czxid, .version = stat.version, .aversion = stat.aversion};
}

/// Throws Error if a node has changed since it was read.
void refuse_changed(Context& cx, const std::vector<FoundNode>& nodes, const std::string& source) {
  auto questions = mapped(nodes, [&](const FoundNode& node) {
    return ahead_exists(cx.client, path_below(source, node.record.path));
  });
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (revision_of(questions[i].answer(cx.stop)) != revision_of(nodes[i].stat))
      throw Error(fmt::format("{} was changed meanwhile; nothing was moved", questions[i].path()),
                  status::bad_version, questions[i].path());
}

/// One transaction: creates `parents`, then the new nodes, parents first, then removes the old
/// ones, children first. Each old node is written once more before it is removed, since the answer
/// to a write has the Stat that shows whether the node is the one that was read.
void move_at_once(Context& cx, std::vector<FoundNode> nodes, const std::string& source,
                  const std::string& target, const std::vector<std::string>& parents) {
  refuse_changed(cx, nodes, source);
  std::vector<Op> ops;
  ops.reserve(parents.size() + 3 * nodes.size());
  for (const auto& parent : parents)
    ops.emplace_back(CreateOp{.path = parent, .data = std::nullopt});
  for (auto& node : nodes)
    ops.emplace_back(CreateOp{.path = path_below(target, node.record.path),
                              .data = node.record.data,
                              .acl = std::move(node.record.acl)});
  std::ranges::reverse(nodes);
  for (auto& node : nodes) {
    const auto path = path_below(source, node.record.path);
    const auto version = node.stat.version;
    // A rehearsal only reports created and removed nodes.
    if (!cx.rehearsal)
      ops.emplace_back(
          SetOp{.path = path, .data = std::move(node.record.data), .version = version});
    ops.emplace_back(RemoveOp{.path = path, .version = cx.rehearsal ? version : version + 1});
  }
  const auto results = cx.client.multi(ops, cx.stop);
  if (cx.rehearsal) return;
  const auto first = parents.size() + nodes.size();  // index of the first old node
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (!is_same(results[first + 2 * i].stat, nodes[i].stat))
      throw Error(
          fmt::format("{} was moved to {}, but the ACL of {} was changed meanwhile, or the node "
                      "was deleted and created again; the moved node has the old ACL and value",
                      source, target, path_below(source, nodes[i].record.path)),
          status::bad_version, path_below(source, nodes[i].record.path));
}

/// The copied nodes, so that only these are removed.
struct Copied {
  NameList paths{};  ///< relative to the source
  std::vector<Revision> revisions{};
};

/// Deletes the nodes that are still as they were copied, children first.
void remove_source(Context& cx, const WorkLimits& limits, const Copied& copied,
                   const std::string& source, const std::string& target) {
  std::optional<ZkError> failure;
  std::size_t removed = 0;
  Progress progress(cx.out, cx.background, "nodes deleted");
  BatchWriter writer(
      cx.client, {.limits = limits},
      [&](const Write& write, const Written& result) {
        if (result.code == code::ok || result.code == code::no_node)
          progress.reach(++removed, copied.revisions.size());
        else if (!failure)
          failure = error_of(write, result);
      },
      cx.stop);
  const auto remove_if_same = [&](const Revision& read, ReadAhead<Stat>& question) {
    const auto now = question.outcome(cx.stop);
    const bool is_changed = now.code == code::ok && revision_of(now.value) != read;
    if (!is_changed && (now.code == code::ok || now.code == code::no_node))
      writer.add(RemoveOp{.path = question.path(), .version = read.version});
    else if (!failure)
      failure = ZkError(is_changed ? code::bad_version : now.code, question.path());
  };
  const auto send_all = [&] {
    // At any rate, a node is deleted soon after it was checked.
    auto window = window_of(cx.client, limits);
    if (limits.rate > 0) window = std::min(window, limits.rate / 10 + 1);
    std::deque<ReadAhead<Stat>> questions;
    auto next = copied.revisions.size();
    for (auto at = next; at > 0; --at) {
      while (next > 0 && questions.size() < window)
        questions.push_back(ahead_exists(cx.client, path_below(source, copied.paths[--next])));
      remove_if_same(copied.revisions[at - 1], questions.front());
      questions.pop_front();
    }
    writer.finish();
  };
  report_if_incomplete(cx, progress, send_all, [&] {
    return fmt::format("{} was copied to {}; {} of its {} nodes were deleted, {}", as_word(source),
                       as_word(target), removed, copied.revisions.size(),
                       unknown_text(writer.in_flight()));
  });
  if (!failure) return;
  throw Error(fmt::format("{} was copied to {}, but {} of its {} nodes could not be deleted, or "
                          "were changed meanwhile; the first failure: {}",
                          source, target, copied.revisions.size() - removed,
                          copied.revisions.size(), failure->what()),
              failure->exit_status(), failure->path());
}

std::size_t move_in_parts(Context& cx, const Args& a, const std::string& source,
                          const std::string& target, SequenceCounters& counters) {
  const auto limits = a.limits.limits();
  if (a.parents) create_parents(cx.client, target, cx.stop);
  Copied copied;
  copy_tree(cx, {.source = source,
                 .target = target,
                 .limits = limits,
                 .parents_made = a.parents,
                 .sealing = true,  // as it is already
                 .counters = &counters,
                 .copied =
                     [&](const FoundNode& node) {
                       // The source itself, if it has been replaced since it was read.
                       if (node.record.life.kind == NodeKind::Ephemeral)
                         refuse_ephemeral(path_below(source, node.record.path));
                       copied.paths.add(node.record.path);
                       copied.revisions.push_back(revision_of(node.stat));
                     },
                 .left_out =
                     [&](const FoundNode& node) {
                       refuse_ephemeral(path_below(source, node.record.path));
                     },
                 .incomplete =
                     [](const std::string& done, const std::string& unknown) {
                       return fmt::format("{}, {}; none was deleted", done, unknown);
                     }});
  remove_source(cx, limits, copied, source, target);
  return copied.revisions.size();
}

int run(Context& cx, const Args& a) {
  const auto source = cx.resolve(a.source);
  const auto target = cx.resolve(a.target);
  SequenceCounters counters({.most_steps = a.counter_steps, .limits = a.limits.limits()});
  if (is_within(target, source))
    throw ValueError(
        fmt::format("{} is below {}: a node cannot be moved below itself", target, source), target);
  auto nodes = read_small(cx, a, source, target);
  std::vector<std::string> parents;
  if (a.parents) parents = missing_parents(cx.client, target, cx.stop);
  std::size_t moved = nodes ? nodes->size() : 0;
  if (nodes) {
    for (const auto& node : *nodes) counters.add(path_below(target, node.record.path), true);
    move_at_once(cx, std::move(*nodes), source, target, parents);
  } else if (a.in_parts) {
    moved = move_in_parts(cx, a, source, target, counters);
  } else {
    throw Error(
        fmt::format("{} is too large for one transaction; --in-parts copies it and then deletes "
                    "the source, which is not atomic",
                    source),
        status::failure, source);
  }
  acknowledge(cx, path_json(target).set("moved", moved));
  counters.finish(cx);
  return status::ok;
}

}  // namespace

extern const Command mv_command = make_command<Args>(
    {.name = "mv",
     .group = "Trees",
     .summary = "Move a node and everything below it",
     .keywords = {"rename", "move"},
     .details =
         "Moves a node and everything below it in one transaction, if values and paths take at "
         "most a quarter of a megabyte (256 KiB). mv needs the permissions READ and WRITE of each "
         "node, DELETE of each parent, and CREATE where the node goes. Other clients see either "
         "the old place or the new one, never both. "
         "If somebody changes a value or adds a node meanwhile, nothing is moved. Larger subtrees "
         "need --in-parts: it copies everything, then deletes exactly the versions that it has "
         "copied; what was changed meanwhile stays, and the status is 6.\n\nValues and ACLs move; "
         "quotas do not, and versions, times and sequence counters start anew: mv warns if `create "
         "-s` would take a number that is not higher than those of "
         "moved children. --advance-counters then creates and deletes a node for each step, after "
         "the move. Ephemerals cannot be moved. A transaction cannot check ACLs, or whether a "
         "node was deleted and created again with the same version. mv checks this just before; if "
         "it changes in between, the status is 6 and zksh says so. With --in-parts "
         "such a change between the check and the deletion is lost. Prints nothing on success.",
     .examples = {{"create /app/old x", "A node,"},
                  {"mv /app/old /app/new", "Rename it."},
                  {"mv --parents /app/new /app/by/year/2026", "Create the parents, too."}},
     .json = "path moved",
     .json_fields = {{"moved", "integer", "Nodes that were moved."}},
     .writes = true},
    declare, run);
}  // namespace zksh::command_mv
