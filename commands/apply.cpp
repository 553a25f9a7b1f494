// apply: restore a dump.
#include "base/json.h"
#include "base/words.h"
#include "client/rehearsal.h"
#include "command/command.h"
#include "command/questions.h"
#include "command/work.h"
#include "node/acl_argument.h"
#include "node/node_json.h"
#include "tree/sequence_counters.h"
#include "tree/tree_apply.h"
#include "tree/tree_text.h"

#include <unistd.h>

namespace zksh::command_apply {
namespace {

struct Args {
  bool prune = false;
  bool verbose = false;
  bool yes = false;
  bool force = false;
  WorkOptions limits;
  std::optional<std::int64_t> counter_steps;
  std::optional<std::string> to;
  std::optional<std::string> file;
};

void declare(Options& o, Args& a) {
  o.flag("--prune", a.prune, "Also remove nodes that are not in the file.");
  o.text("--to", a.to, "Restore below this node instead of the dumped path.", "path");
  o.flag("-v,--verbose", a.verbose, "Print every change.");
  o.flag("-y,--yes", a.yes, "Remove nodes without asking.");
  declare_force_acl(o, a.force);
  declare_counters(o, a.counter_steps);
  declare_work_limits(o, a.limits);
  o.file("file", a.file, "A dump file; by default, or for -, standard input.");
}

std::string counts_text(const ApplyCounts& counts) {
  auto text = fmt::format("created {}, set {}, ACLs {}, quotas {}, removed {}, unchanged {}",
                          counts.created, counts.set, counts.acls, counts.quotas, counts.removed,
                          counts.unchanged);
  const auto add = [&](std::size_t count, std::string_view what) {
    if (count > 0) text += fmt::format("; {} {}", count, what);
  };
  add(counts.others, "not in the file were left");
  add(counts.ephemerals, "ephemeral were left");
  add(counts.sheltering, "above ephemerals were left");
  add(counts.conflicts, "conflicts");
  return text;
}

Json counts_json(const ApplyCounts& counts, const std::string& top) {
  return path_json(top)
      .set("created", counts.created)
      .set("set", counts.set)
      .set("acls", counts.acls)
      .set("quotas", counts.quotas)
      .set("removed", counts.removed)
      .set("unchanged", counts.unchanged)
      .set("left", counts.others)
      .set("ephemeralsLeft", counts.ephemerals)
      .set("aboveEphemeralsLeft", counts.sheltering)
      .set("conflicts", counts.conflicts);
}

/// What was done before the work ended early; empty: nothing.
std::string unfinished_text(const TreeApply& apply) {
  const auto open = apply.unanswered();
  const auto& done = apply.counts();
  if (done.created + done.set + done.acls + done.quotas + done.removed + open == 0) return {};
  return fmt::format(
      "{}{}; run apply again to continue", counts_text(done),
      open == 0 ? ""
                : fmt::format("; {} more were sent, and may or may not have been applied", open));
}

void print_change(Context& cx, const WriteDescription& change) {
  const auto verb = change.verb == "create"   ? "created"
                    : change.verb == "delete" ? "removed"
                                              : change.verb;
  print_result(cx,
               Json::object()
                   .set("change", change.verb)
                   .set("path", change.path)
                   .set("detail", Json::text_or_null(change.detail)),
               fmt::format("{} {}{}", verb, as_word(change.path),
                           change.detail.empty() ? "" : fmt::format(" ({})", change.detail)));
}

TreeApply::Plan plan_of(Context& cx, const Args& a, const TreeReader& file) {
  TreeApply::Plan plan{.top = a.to ? cx.resolve(*a.to) : file.top(),
                       .prune = a.prune,
                       .rehearse = cx.rehearsal != nullptr,
                       .sealing = a.force || cx.input == Input::Pipe,
                       .limits = a.limits.limits()};
  plan.on_write = [&cx, &a](const WriteDescription& change) {
    if (cx.rehearsal)
      cx.rehearsal->note(change);
    else if (a.verbose)
      print_change(cx, change);
  };
  // Also printed in a rehearsal, where other lines would not be true.
  plan.conflict = [&cx, reported = 0](const std::string& sentence) mutable {
    constexpr int most = 20;
    if (++reported <= most) cx.out.err_line_regardless(cx.out.shown_in_error(sentence));
    if (reported == most) cx.out.err_line_regardless("further conflicts are only counted");
  };
  return plan;
}

/// Finds out what would be removed, and asks for confirmation.
bool confirmed(Context& cx, const Args& a, const std::string& name) {
  auto file = open_tree(cx, name);
  auto plan = plan_of(cx, a, file);
  plan.rehearse = true;
  plan.on_write = [](const WriteDescription& /*write*/) {};
  plan.conflict = [](const std::string& /*sentence*/) {};
  const auto top = plan.top;
  TreeApply rehearsal(cx.client, std::move(plan), cx.stop);
  rehearsal.run([&] { return file.next(); });
  const auto removed = rehearsal.counts().removed;
  if (removed == 0) return true;
  return confirmed_by_user(
      cx, fmt::format("{}: {} node{} not in the file. Remove {}?", as_word(top), removed,
                      removed == 1 ? " is" : "s are", removed == 1 ? "it" : "them"));
}

/// The file to read; if none is named, what a program pipes or redirects to zksh.
std::string file_name(const Context& cx, const Args& a) {
  if (a.file) return *a.file;
  const bool own_input = cx.input == Input::Arguments || cx.input == Input::Text;
  if (!own_input || isatty(STDIN_FILENO) == 1)
    throw SyntaxError("too few arguments: file expected");
  return "-";
}

int run(Context& cx, const Args& a) {
  const auto name = file_name(cx, a);
  SequenceCounters counters(
      {.most_steps = a.counter_steps, .repeatable = true, .limits = a.limits.limits()});
  const auto size = checked_size(cx, name);
  if (a.prune && size && needs_confirmation(cx, a.yes) && !confirmed(cx, a, name))
    throw Error("nothing was changed");
  auto file = open_tree(cx, name);
  auto plan = plan_of(cx, a, file);
  const auto top = plan.top;
  Progress progress(cx.out, cx.background, "nodes");
  plan.reached = [&](std::size_t count) { progress.reach(count, size.value_or(0)); };
  plan.counters = &counters;
  TreeApply apply(cx.client, std::move(plan), cx.stop);
  report_if_incomplete(
      cx, progress, [&] { apply.run([&] { return file.next(); }); },
      [&] { return unfinished_text(apply); });
  print_result(cx, counts_json(apply.counts(), top), counts_text(apply.counts()));
  counters.finish(cx);
  return apply.counts().conflicts == 0 ? status::ok : status::failure;
}

}  // namespace

extern const Command apply_command = make_command<Args>(
    {.name = "apply",
     .group = "Trees",
     .summary = "Restore a subtree from a dump",
     .keywords = {"restore", "recover", "rollback", "import", "load", "migrate", "mirror",
                  "replicate"},
     .details =
         "Makes a subtree equal to a dump, and writes only what differs: missing nodes, data, ACLs "
         "and quotas. Nodes that are not in the dump stay, unless you give --prune; ephemeral "
         "nodes and the nodes above them are never removed. The last line counts the changes. If "
         "apply is interrupted or fails, run it again: it continues where it stopped. A file is "
         "checked first: if it is truncated or malformed, nothing is changed. Standard input, such "
         "as a pipe from `dump`, is applied as it is read.\n\nA node that somebody else changes at "
         "the same time is reported as a conflict, not overwritten. So is one whose new ACL nobody "
         "could change any more, unless you give --force. New nodes have their final ACL from the "
         "start. The exception is an ACL that would lock this session out: then the session has "
         "access until the nodes below are written. The kind of an existing node cannot be "
         "changed. Conflicts, including nodes that may not be read and ACLs whose hashes the "
         "servers hide, make the status 1.\n\nThe sequence counter of a new node starts at 0, and "
         "counts what is created below it. apply warns if `create -s` would take a number that is "
         "not higher than those of children in the dump. --advance-counters creates and deletes a "
         "node for each step; it does so too if apply has nothing else to do.",
     .examples = {{"dump /app > app.tree", "Save a subtree to a file."},
                  {"apply --dry-run --prune app.tree", "Show what would change."},
                  {"apply --to /copy app.tree", "Restore it under another name."}},
     .json = "path created set acls quotas removed unchanged left ephemeralsLeft "
             "aboveEphemeralsLeft conflicts | change path detail",
     .json_fields =
         {{"aboveEphemeralsLeft", "integer",
           "Nodes that were left because they have, or may have, ephemerals below them."},
          {"acls", "integer", "Nodes whose ACL was set."},
          {"change", "string",
           "The change: create, set, set the ACL of, set the quota of or delete."},
          {"conflicts", "integer", "Nodes that could not be changed."},
          {"ephemeralsLeft", "integer", "Ephemeral nodes that were left alone."},
          {"quotas", "integer", "Nodes whose quota was set."}},
     .writes = true},
    declare, run);
}  // namespace zksh::command_apply
