// deleteall: remove a node and everything below it.
#include "base/number.h"
#include "base/words.h"
#include "client/read_ahead.h"
#include "client/rehearsal.h"
#include "command/questions.h"
#include "command/report.h"
#include "command/work.h"
#include "config/settings.h"
#include "node/node_failures.h"
#include "node/node_json.h"
#include "node/quota.h"
#include "tree/extent.h"
#include "tree/live_tree.h"
#include "tree/subtree_removal.h"
#include "tree/walk.h"

#include <algorithm>

namespace zksh::command_deleteall {
namespace {

struct Args {
  std::optional<std::string> batch;
  std::optional<std::int64_t> most;
  bool recursive = false;
  bool yes = false;
  bool force = false;
  bool quotas = false;
  WorkOptions limits;
  std::vector<std::string> paths;
};

void declare(Options& o, Args& a) {
  o.text("-b,--batch", a.batch, "Nodes per transaction, 1000 by default.", "batch size");
  o.flag("-r,-R,--recursive", a.recursive,
         "For `rm` only, which otherwise deletes nodes without children.");
  o.flag("-y,--yes", a.yes, "Do not ask.");
  o.instead_of("-f", "-y asks nothing");
  o.instead_of("-i", "it asks anyway, at a terminal");
  o.number("--max", a.most, "number", "Delete nothing if there are more nodes than this.");
  o.flag("--force", a.force, "Delete even / or /zookeeper.");
  o.common().flag("--quotas", a.quotas, "Delete the quotas of the deleted nodes, too.");
  declare_work_limits(o, a.limits);
  o.nodes("path", a.paths, "The tops of the subtrees.");
}

std::size_t batch_size(const Context& cx, const Args& a) {
  constexpr std::int64_t most = 1 << 20;
  constexpr std::size_t usual = 1000;
  if (!a.batch) return usual;
  std::int64_t batch = 0;
  try {
    batch = parse_number(*a.batch, "-b", INT32_MIN, INT32_MAX);
  } catch (const UsageError&) {
    throw ValueError("-b argument must be an int value");
  }
  if (batch < 1 && cx.input == Input::Pipe) return usual;  // zkCli takes any number
  if (batch < 1) throw ValueError("-b must be at least 1");
  return static_cast<std::size_t>(std::min(batch, most));
}

/// The tops that exist; reports the others.
std::vector<std::string> present(Context& cx, const std::vector<std::string>& tops,
                                 NodeFailures& failures) {
  std::vector<std::string> there;
  there.reserve(tops.size());
  for (const auto& top : tops) {
    if (cx.client.exists(top, Watch::none(), cx.stop))
      there.push_back(top);
    else
      failures.report(ZkError(code::no_node, top));
  }
  return there;
}

/// How many of the nodes exist; one that may not be read does.
std::size_t count_present(Context& cx, const std::vector<std::string>& paths) {
  cx.client.await_connection(paths.front(), cx.stop);
  return static_cast<std::size_t>(std::ranges::count_if(paths, [&](const std::string& path) {
    return ahead_exists(cx.client, path).outcome(cx.stop).code != code::no_node;
  }));
}

void refuse_roots(const std::vector<std::string>& paths) {
  for (const auto& path : paths)
    if (path == "/" || path == "/zookeeper")
      throw ValueError(fmt::format(
          "refusing to delete {}: everything depends on it; --force deletes what can be deleted",
          path));
}

/// For --dry-run: lists every node, parents before children.
void rehearse(Context& cx, const std::vector<std::string>& tops, const WorkLimits& limits) {
  const auto enter = [&](const TreeNode& node) {
    if (node.path != "/")  // which cannot be removed
      cx.rehearsal->note({.verb = "delete",
                          .path = node.path,
                          .detail = node.stat.ephemeral_owner != 0 ? "ephemeral" : ""});
    if (node.hides_children()) throw ZkError(code::no_auth, node.path);
  };
  walk_tree(cx.client, {.tops = tops, .may_be_missing = true, .limits = limits, .enter = enter},
            cx.stop);
}

/// The nodes of these subtrees that have a quota; except in a rehearsal, only those that are gone.
std::vector<std::string> nodes_with_quota(Context& cx, const QuotaPlace& place,
                                          const std::vector<std::string>& tops) {
  std::vector<std::string> nodes;
  for (const auto& top : tops)
    for (const auto& found : limits_below(place, top, cx.stop)) {
      const auto path = path_below(top, found.first);
      if (cx.rehearsal || !cx.client.exists(path, Watch::none(), cx.stop)) nodes.push_back(path);
    }
  return nodes;
}

/// Quotas outlive their nodes, and would bind others of the same name.
void remove_quotas(Context& cx, const Args& a, const std::vector<std::string>& tops) {
  const QuotaPlace place(cx.client, cx.stop);
  const auto left = nodes_with_quota(cx, place, tops);
  if (left.empty()) return;
  const auto question =
      left.size() == 1
          ? fmt::format("The quota of {} is still there. Delete it?", as_word(left.front()))
          : fmt::format("The quotas of {} of these nodes are still there. Delete them?",
                        left.size());
  if (!a.quotas && !confirmed_by_user(cx, question)) return;
  for (const auto& path : left)
    if (cx.rehearsal)
      cx.rehearsal->note({.verb = "set the quota of", .path = path, .detail = "none"});
    else
      remove_quota(place, path, cx.stop);
}

/// What was done to all subtrees together.
struct Total {
  std::size_t removed = 0;
  bool shown = false;  ///< took so long that the user saw progress
};

/// For rm without -r: removes the nodes themselves, at the rate of `limits`.
int remove_nodes(Context& cx, const Args& a, const std::vector<std::string>& paths,
                 const WorkLimits& limits) {
  Pace pace(cx.client, limits.rate);
  std::vector<std::string> removed;
  const int result = each_node(cx, paths, [&](const std::string& path) {
    pace.take(1, cx.stop);
    try {
      cx.client.remove({.path = path}, cx.stop);
    } catch (const ZkError& error) {
      if (error.code() != code::not_empty || cx.input != Input::Terminal) throw;
      throw ZkError(error, " (`rm -r` deletes the nodes below it, too)");
    }
    removed.push_back(path);
    acknowledge(cx, path_json(path).set("removed", 1));
    return status::ok;
  });
  if (a.quotas && !removed.empty()) remove_quotas(cx, a, removed);
  return result;
}

int remove_all_below(Context& cx, const Args& a, const std::string& path, std::size_t batch,
                     const WorkLimits& limits, Total& total) {
  Progress progress(cx.out, cx.background, "nodes deleted");
  Removal removal;
  const auto progressed = [&](const Removal& now) { progress.reach(now.removed, now.found); };
  const RemovalPlan plan{
      .top = path, .batch = batch, .salvages = a.force, .limits = limits, .progress = progressed};
  report_if_incomplete(
      cx, progress, [&] { remove_subtree(cx.client, plan, removal, cx.stop); },
      [&] {
        if (removal.removed + removal.unknown == 0) return std::string();
        return fmt::format("{} of {} nodes were deleted; {}", removal.removed, removal.found,
                           unknown_text(removal.unknown));
      });
  acknowledge(cx, path_json(path).set("removed", removal.removed));
  total.removed += removal.removed;
  total.shown = total.shown || progress.was_shown();
  if (!removal.failure) return status::ok;
  cx.out.err_line("Failed to delete some node(s) in the subtree!");
  if (cx.input != Input::Pipe)
    cx.out.err_line("{} of {} nodes were deleted; the first failure: {}", removal.removed,
                    removal.found,
                    cx.out.shown_in_error(NodeFailures(cx).explained(*removal.failure).what()));
  return cx.excused(removal.failure->exit_status());
}

Op operation(Context& cx, const Args& a) {
  if (cx.given.name != "rm" || a.recursive || a.paths.size() != 1 || a.most || a.quotas)
    throw ValueError("in a transaction, rm and delete remove one node: `rm PATH`");
  return RemoveOp{.path = cx.resolve(a.paths.front())};
}

int run(Context& cx, const Args& a) {
  const auto batch = batch_size(cx, a);
  if (a.most && *a.most < 0) throw ValueError("--max must be at least 0");
  const auto limits = a.limits.limits();
  // zkCli, which has no rm, ignores what follows the first word.
  const bool is_rm = cx.given.name == "rm";
  const bool as_zkcli = cx.input == Input::Pipe && !is_rm;
  auto paths = cx.resolve_all(as_zkcli ? std::vector{a.paths.front()} : a.paths);
  if (!a.force && !cx.services.settings.drop_in) refuse_roots(paths);
  const bool below = !is_rm || a.recursive;
  if (a.most) {
    const auto nodes = below ? extent_of(cx, paths, limits).nodes : count_present(cx, paths);
    if (static_cast<std::int64_t>(nodes) > *a.most)
      throw Error(fmt::format("{}: {}, more than --max {}; nothing was deleted",
                              named_subtrees(paths), counted(nodes, "node"), *a.most));
  }
  if (!below) return remove_nodes(cx, a, paths, limits);
  NodeFailures failures(cx);
  if (cx.rehearsal) {
    const auto there = present(cx, paths, failures);
    rehearse(cx, there, limits);
    if (a.quotas) remove_quotas(cx, a, there);
    return failures.first();
  }
  const bool asks = needs_confirmation(cx, a.yes);
  if (asks) {
    paths = present(cx, paths, failures);
    if (const auto why = paths.empty() ? std::nullopt
                                       : subtree_refusal(cx, paths, limits, "delete", "deleted")) {
      report_error(cx.out, Error(*why, status::failure, paths.size() == 1 ? paths.front() : ""));
      return failures.first(status::failure);
    }
  }
  Total total;
  failures.note(each_node(cx, paths, [&](const std::string& path) {
    return remove_all_below(cx, a, path, batch, limits, total);
  }));
  // Confirm with a count the end of work that took long or was asked about: a count was shown then.
  const bool told = failures.first() != status::ok && paths.size() == 1;
  if (total.removed > 1 && !cx.out.json() && (asks || total.shown) && !told)
    cx.out.err_line("{} nodes deleted", total.removed);
  if (asks || a.quotas) remove_quotas(cx, a, paths);
  return failures.first();
}

}  // namespace

extern const Command deleteall_command = make_command<Args>(
    {.name = "deleteall",
     .aliases = {"rmr", "rm"},
     .group = "Nodes",
     .summary = "Delete a node and everything below it",
     .keywords = {"recursive", "purge", "rm"},
     .details = "Finds all nodes of the subtree, then deletes them from the deepest level up, in "
                "transactions of -b nodes, several at a time. Each transaction is applied as a "
                "whole or not at all; if one fails, no more are sent. With --force, what can be "
                "deleted still is. If part of the subtree cannot be listed, nothing is deleted. "
                "Subtrees of more than 10000 nodes are an exception: some nodes may already be "
                "gone then.\n\nAt a terminal zksh counts the nodes and asks "
                "before it deletes more than one. From 1000 nodes on, and in a production profile, "
                "you must type the node's name. / and /zookeeper need --force. Quotas outlive "
                "their nodes: zksh then asks whether to delete those, too, and --quotas deletes "
                "them without a question. --max is for scripts: if somebody has put more there "
                "than expected, nothing is deleted, and the status is 1.",
     .examples = {{"deleteall --dry-run /app", "Show what would be deleted."},
                  {"deleteall -y /app", "Delete a subtree without asking."}},
     .json = "path removed",
     .zkcli_syntax = "path [-b batch size]",
     .writes = true},
    declare, run, operation);
}  // namespace zksh::command_deleteall
