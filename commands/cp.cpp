// cp: copy a node or a subtree.
#include "base/number.h"
#include "base/words.h"
#include "client/node_path.h"
#include "client/read_ahead.h"
#include "command/command.h"
#include "command/work.h"
#include "node/acl_argument.h"
#include "node/node_json.h"
#include "node/parents.h"
#include "tree/sequence_counters.h"
#include "tree/tree_apply.h"

namespace zksh::command_cp {
namespace {

struct Args {
  bool recursive = false;
  bool parents = false;
  bool force = false;
  WorkOptions limits;
  std::optional<std::int64_t> counter_steps;
  std::string source;
  std::string target;
};

void declare(Options& o, Args& a) {
  o.flag("-r,-R,--recursive", a.recursive, "Copy the nodes below it, too.");
  o.flag("-p,--parents", a.parents, "Create missing parents of the copy, with null values.");
  declare_force_acl(o, a.force);
  declare_counters(o, a.counter_steps);
  declare_work_limits(o, a.limits);
  o.node("source", a.source, "The node.");
  o.node("target", a.target, "The path of the copy; it must not exist.");
  o.instead_of("-a", "values and ACLs are copied anyway; -r copies the subtree");
  o.instead_of("-f", "no node is replaced: delete the target first");
}

void refuse_existing(ReadAhead<Stat>& target, const std::stop_token& stop) {
  if (target.found(stop)) throw ZkError(code::node_exists, target.path());
}

void copy_node(Context& cx, const Args& a, const std::string& source, const std::string& target) {
  cx.client.await_connection(target, cx.stop);
  auto taken = ahead_exists(cx.client, target);
  auto value = ahead_get(cx.client, source);
  auto acl = ahead_get_acl(cx.client, source);
  auto parent = ahead_exists(cx.client, std::string(parent_path(target)));
  refuse_existing(taken, cx.stop);
  auto node = value.answer(cx.stop);
  const FoundNode found{.record = {.acl = acl.answer(cx.stop).acl}};
  require_whole(found, source);
  refuse_sealed(cx, found.record.acl, target, a.force);
  if (a.parents)
    create_parents(cx.client, target, cx.stop);
  else
    require_parent(parent, target, cx.stop);
  cx.client.create({.path = target, .data = std::move(node.data), .acl = found.record.acl},
                   cx.stop);
  if (node.stat.num_children > 0 && cx.input == Input::Terminal)
    cx.out.err_line("the nodes below {} were not copied (`cp -r` copies them, too)",
                    cx.out.shown_in_error(as_word(source)));
}

std::size_t copy_subtree(Context& cx, const Args& a, const std::string& source,
                         const std::string& target, SequenceCounters& counters) {
  cx.client.await_connection(target, cx.stop);
  auto taken = ahead_exists(cx.client, target);
  refuse_existing(taken, cx.stop);
  if (a.parents && cx.client.exists(source, Watch::none(), cx.stop))
    create_parents(cx.client, target, cx.stop);
  std::size_t left_out = 0;
  const auto copied = copy_tree(
      cx, {.source = source,
           .target = target,
           .limits = a.limits.limits(),
           .parents_made = a.parents,
           .sealing = a.force || cx.input == Input::Pipe,
           .counters = &counters,
           .left_out = [&](const FoundNode& /*node*/) { ++left_out; },
           .incomplete = [](const std::string& done,
                            const std::string& unknown) { return done + "; " + unknown; }});
  if (left_out > 0) cx.out.err_line("{} left out", counted_were(left_out, "ephemeral node"));
  return copied;
}

int run(Context& cx, const Args& a) {
  const auto source = cx.resolve(a.source);
  const auto target = cx.resolve(a.target);
  SequenceCounters counters({.most_steps = a.counter_steps, .limits = a.limits.limits()});
  if (a.recursive && is_within(target, source))
    throw ValueError(
        fmt::format("{} is below {}: a subtree cannot be copied into itself", target, source),
        target);
  std::size_t copied = 1;
  if (a.recursive) {
    copied = copy_subtree(cx, a, source, target, counters);
  } else {
    copy_node(cx, a, source, target);
    counters.add(target, true);
  }
  acknowledge(cx, path_json(target).set("copied", copied));
  counters.finish(cx);
  return status::ok;
}

}  // namespace

extern const Command cp_command = make_command<Args>(
    {.name = "cp",
     .group = "Trees",
     .summary = "Copy a node or a subtree",
     .keywords = {"duplicate", "clone", "copy", "recursive"},
     .details = "Copies the value and the ACL of a node, and with -r those of all nodes below it. "
                "Quotas are not copied. Ephemerals below the source are left out and counted; if "
                "the source itself is ephemeral, its copy is persistent. Each copy has its ACL "
                "from the start; one that nobody could change any more needs --force. If cp fails, "
                "what it has copied stays: remove it with `rm -r`, or "
                "finish with `dump` and `apply --to`. The copy is not a snapshot: changes made "
                "meanwhile may or may not be in it. Prints nothing on success.\n\nThe sequence "
                "counter of a new node starts at 0, and counts what is created below it. cp warns "
                "if `create -s` would take a number that is not higher than those of copied "
                "children. --advance-counters creates and deletes a node for each step; 100,000 "
                "steps take a few seconds, and write 200,000 changes to the log of every server.",
     .examples = {{"cp /app /app-1", "Copy one node."},
                  {"cp -r /app /app-2", "Copy a subtree."},
                  {"cp -r --parents /app /old/2026/app", "Create the parents, too."}},
     .json = "path copied",
     .json_fields = {{"copied", "integer", "Nodes that were copied."}},
     .writes = true},
    declare, run);
}  // namespace zksh::command_cp
