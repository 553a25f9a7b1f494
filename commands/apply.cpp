// apply: restore a dump.
#include "base/json.h"
#include "base/quoting.h"
#include "client/rehearsal.h"
#include "command/command.h"
#include "command/confirmation.h"
#include "command/progress.h"
#include "command/work_account.h"
#include "command/work_options.h"
#include "tree/tree_apply.h"
#include "tree/tree_file.h"

#include <fmt/core.h>

#include <memory>

namespace zksh::command_apply {
namespace {

struct Args {
  bool prune = false;
  bool verbose = false;
  bool yes = false;
  WorkOptions limits;
  std::optional<std::string> to;
  std::optional<std::string> file;
};

void declare(Options& o, Args& a) {
  o.flag("--prune", a.prune, "Remove nodes that the file does not have.");
  o.text("--to", a.to, "Restore it here, not at the path that was dumped.", "path");
  o.flag("-v,--verbose", a.verbose, "Print every change.");
  o.flag("-y,--yes", a.yes, "Do not ask before nodes are removed.");
  declare_work_limits(o, a.limits);
  o.file("file", a.file, "What `dump` wrote; - for standard input.");
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
  add(counts.conflicts, "could not be made so");
  return text;
}

std::string counts_json(const ApplyCounts& counts, const std::string& top) {
  auto json = Json::object();
  json.set("path", top)
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
  return json.text();
}

/// What was done before the work ended early; empty: nothing.
std::string unfinished_text(const TreeApply& apply) {
  const auto open = apply.unanswered();
  const auto& done = apply.counts();
  if (done.created + done.set + done.acls + done.quotas + done.removed + open == 0) return {};
  return fmt::format(
      "{}{}; apply again to go on", counts_text(done),
      open == 0 ? "" : fmt::format("; {} more were sent and may be done or not", open));
}

void print_change(Context& cx, const TreeApply::Change& change) {
  if (cx.out.json()) {
    auto json = Json::object();
    json.set("change", change.verb).set("path", change.path);
    json.set("detail", change.detail.empty() ? Json() : Json(change.detail));
    cx.out.out(json.text() + '\n');
    return;
  }
  const auto* const verb = change.verb == "create"   ? "created"
                           : change.verb == "delete" ? "removed"
                                                     : change.verb.c_str();
  cx.out.line("{} {}{}", verb, as_word(change.path),
              change.detail.empty() ? "" : fmt::format(" ({})", change.detail));
}

TreeApply::Plan plan_of(Context& cx, const Args& a, const std::string& top) {
  TreeApply::Plan plan{.top = top,
                       .prune = a.prune,
                       .rehearse = cx.rehearsal != nullptr,
                       .limits = a.limits.limits()};
  plan.told = [&cx, &a](const TreeApply::Change& change) {
    if (cx.rehearsal)
      cx.rehearsal->note({.verb = change.verb, .path = change.path, .detail = change.detail});
    else if (a.verbose)
      print_change(cx, change);
  };
  plan.conflict = [&cx, told = 0](const std::string& sentence) mutable {
    constexpr int most = 20;
    if (++told <= most) cx.out.err_line("{}", sentence);
    if (told == most) cx.out.err_line("more of this kind are only counted");
  };
  plan.reached = [](std::size_t /*count*/) {};
  return plan;
}

std::string top_of(const Context& cx, const Args& a, const TreeFile& file) {
  return a.to ? cx.resolve(*a.to) : file.reader().top();
}

/// Finds out what would be removed, and asks for confirmation.
bool confirmed(Context& cx, const Args& a) {
  TreeFile file(cx, *a.file);
  auto plan = plan_of(cx, a, top_of(cx, a, file));
  plan.rehearse = true;
  plan.told = [](const TreeApply::Change& /*change*/) {};
  plan.conflict = [](const std::string& /*sentence*/) {};
  const auto top = plan.top;
  TreeApply rehearsal(cx.client, std::move(plan), cx.stop);
  rehearsal.run(file.reader());
  const auto removed = rehearsal.counts().removed;
  if (removed == 0) return true;
  return agreed(cx, fmt::format("{}: {} node{} not in the file. Remove {}?", as_word(top), removed,
                                removed == 1 ? " is" : "s are", removed == 1 ? "it" : "them"));
}

int run(Context& cx, const Args& a) {
  if (!a.file) throw SyntaxError("too few arguments: file expected");
  const auto size = checked_size(cx, *a.file);
  if (a.prune && size && asks_before_removal(cx, a.yes) && !confirmed(cx, a)) {
    cx.out.err_line("nothing was changed");
    return status::failure;
  }
  TreeFile file(cx, *a.file);
  auto plan = plan_of(cx, a, top_of(cx, a, file));
  const auto top = plan.top;
  Progress progress(cx.out, cx.background, "nodes");
  plan.reached = [&](std::size_t count) { progress.reach(count, size.value_or(0)); };
  TreeApply apply(cx.client, std::move(plan), cx.stop);
  accounting(
      cx, progress, [&] { apply.run(file.reader()); }, [&] { return unfinished_text(apply); });
  cx.out.out((cx.out.json() ? counts_json(apply.counts(), top) : counts_text(apply.counts())) +
             '\n');
  return apply.counts().conflicts == 0 ? status::ok : status::failure;
}

}  // namespace

extern const Command apply_command = make_command<Args>(
    {.name = "apply",
     .group = "Trees",
     .summary = "Restore a dump: make a subtree equal to it",
     .keywords = {"restore", "import", "load"},
     .details = "Compares the subtree with what `dump` wrote, node by node, and writes only what "
                "differs: data, ACLs, quotas, and nodes that are missing, parents before their "
                "children. Other nodes stay, unless --prune removes them; ephemeral nodes and the "
                "nodes above them are never removed. The last line counts the changes. If it is "
                "interrupted, killed or refused anywhere, run it again: it finishes the same tree. "
                "A file is read to its end first: one that was cut off, or has mistakes, changes "
                "nothing. Standard input is read as it comes.\n\n"
                "A node is changed only if nobody else has changed it since it was read. A node "
                "has its final ACL from the beginning, unless that would keep this session from "
                "working below it: then the session is in the ACL, too, until all below it is "
                "done. Kinds cannot be changed: a node of another kind, or one that may not be "
                "read, is reported, and the status is 1.",
     .examples = {{"dump /app > app.tree", "Keep a subtree in a file."},
                  {"apply --dry-run --prune app.tree", "What would be written?"},
                  {"apply --to /copy app.tree", "Make it again, elsewhere."}},
     .json = "path created set acls quotas removed unchanged left ephemeralsLeft "
             "aboveEphemeralsLeft conflicts | change path detail",
     .strict = true,
     .writes = true},
    declare, run);
}  // namespace zksh::command_apply
