// listquota: show a node's quota and its usage.
#include "command/zkcli_style.h"
#include "node/node_json.h"
#include "node/quota.h"
#include "tree/live_tree.h"
#include "tree/tree_record.h"

namespace zksh::command_listquota {
namespace {

struct Args {
  bool recursive = false;
  bool exceeded = false;
  std::string path;
};

void declare(Options& o, Args& a) {
  o.flag("-R,--recursive", a.recursive, "List all quotas at and below the node, one a line.");
  o.flag("--exceeded", a.exceeded, "With -R: only exceeded quotas.");
  o.node("path", a.path, "The node that has the quota.");
}

/// -1: no limit.
Json quota_json(const QuotaText& quota) {
  auto json = Json::object();
  for (const auto key : limit_keys) json.set(key, quota.get(key));
  return json;
}

Json quota_json(const std::string& path, const QuotaText& limits, const QuotaText& usage) {
  return path_json(path).set("limits", quota_json(limits)).set("usage", quota_json(usage));
}

bool is_exceeded(const QuotaText& limits, const QuotaText& usage) {
  return exceeds(usage, limits, QuotaText::count) || exceeds(usage, limits, QuotaText::bytes);
}

/// "nodes 7 of 5", "bytes 20 (hard 100)", "exceeded" and the path, separated by tabs.
std::string line_of(Context& cx, const std::string& path, const QuotaText& limits,
                    const QuotaText& usage) {
  const auto part = [&](std::string_view name, std::string_view what, std::string_view hard) {
    auto text = fmt::format("{} {}", name, usage.get(what));
    if (limits.get(what) >= 0) text += fmt::format(" of {}", limits.get(what));
    if (limits.get(hard) >= 0) text += fmt::format(" (hard {})", limits.get(hard));
    return text;
  };
  return fmt::format("{}\t{}\t{}\t{}", part("nodes", QuotaText::count, QuotaText::count_hard_limit),
                     part("bytes", QuotaText::bytes, QuotaText::byte_hard_limit),
                     is_exceeded(limits, usage) ? "exceeded" : "ok", cx.out.shown(path));
}

int list_all(Context& cx, const Args& a) {
  const auto top = cx.resolve(a.path);
  const QuotaPlace place(cx.client, cx.stop);
  for (const auto& found : limits_below(place, top, cx.stop)) {
    const auto path = path_below(top, found.first);
    const auto limits = read_quota(place, limits_node(place.whole(path)), cx.stop);
    const auto usage = read_quota(place, usage_node(place.whole(path)), cx.stop);
    const bool exceeded = is_exceeded(limits, usage);
    if (a.exceeded && !exceeded) continue;
    print_result(cx, quota_json(path, limits, usage).set("exceeded", exceeded),
                 line_of(cx, path, limits, usage));
  }
  return status::ok;
}

int run(Context& cx, const Args& a) {
  if (a.exceeded && !a.recursive) throw ValueError("--exceeded needs -R");
  if (a.recursive) return list_all(cx, a);
  const auto path = quota_argument(cx, a.path);
  const QuotaPlace place(cx.client, cx.stop);
  const auto node = limits_node(place.whole(path));
  const bool in_one_line = prints_for_prompt(cx);
  if (!cx.out.json() && !in_one_line)
    cx.out.err_line("absolute path is {}", cx.out.shown_in_error(node));
  check_path(node);
  try {
    const auto limits = read_quota(place, node, cx.stop);
    const auto usage = read_quota(place, usage_node(place.whole(path)), cx.stop);
    if (cx.out.json() || in_one_line) {
      print_result(cx, quota_json(path, limits, usage), line_of(cx, path, limits, usage));
      return status::ok;
    }
    cx.out.line("Output quota for {} {}", cx.out.shown(path),
                prints_as_34(cx)  // all that zkCli 3.4 had
                    ? fmt::format("count={},bytes={}", limits.get(QuotaText::count),
                                  limits.get(QuotaText::bytes))
                    : limits.text());
    cx.out.line("Output stat for {} {}", cx.out.shown(path), usage.text());
  } catch (const ZkError& error) {
    if (error.code() != code::no_node) throw;
    throw excused_error(Error(fmt::format("quota for {} does not exist.", path), status::no_node));
  }
  return status::ok;
}

}  // namespace

extern const Command listquota_command = make_command<Args>(
    {.name = "listquota",
     .group = "Quotas",
     .summary = "Show a node's quota and its usage",
     .keywords = {"quota", "limit"},
     .details =
         "The first line shows the limits: count (nodes) and bytes are soft, countHardLimit "
         "and byteHardLimit are hard; -1 means no limit. The second line shows the usage: "
         "the nodes of the subtree, including the top, and the bytes of their values. At the "
         "prompt both are in one line, as with -R. -R lists all quotas at and below a node.",
     .examples = {{"create /app", "A node."},
                  {"setquota -n 100 /app", "Set a limit of a hundred nodes."},
                  {"listquota /app", "Show the limits and the usage."},
                  {"listquota -R --exceeded /", "Find exceeded quotas."}},
     .json = "path limits usage [exceeded]",
     .json_fields = {{"exceeded", "boolean", "Whether the usage exceeds a limit."},
                     {"limits", "Quota", "The quota."},
                     {"usage", "Quota", "The current usage."}},
     .zkcli_syntax = "path"},
    declare, run);
}  // namespace zksh::command_listquota
