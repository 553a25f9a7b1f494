// listquota: show the quota of a node, and how much of it is used.
#include "command/zkcli_style.h"
#include "node/node_json.h"
#include "node/quota.h"

namespace zksh::command_listquota {
namespace {

struct Args {
  std::string path;
};

void declare(Options& o, Args& a) { o.node("path", a.path, "The node that has the quota."); }

/// -1: no limit.
Json quota_json(const QuotaText& quota) {
  auto json = Json::object();
  for (const auto key : {QuotaText::count, QuotaText::bytes, QuotaText::count_hard_limit,
                         QuotaText::byte_hard_limit})
    json.set(key, quota.get(key));
  return json;
}

/// All that zkCli 3.4 knew of.
std::string old_text(const QuotaText& limits) {
  return fmt::format("count={},bytes={}", limits.get(QuotaText::count),
                     limits.get(QuotaText::bytes));
}

int run(Context& cx, const Args& a) {
  const auto path = quota_argument(cx, a.path);
  const auto node = limits_node(path);
  if (!cx.out.json()) cx.out.err_line("absolute path is {}", cx.out.shown_in_error(node));
  check_path(node);
  try {
    const auto limits = read_quota(cx, node);
    const auto usage = read_quota(cx, usage_node(path));
    if (cx.out.json()) {
      auto json = path_json(path);
      json.set("limits", quota_json(limits)).set("usage", quota_json(usage));
      print_json(cx, json);
      return status::ok;
    }
    cx.out.line("Output quota for {} {}", cx.out.shown(path),
                prints_as_34(cx) ? old_text(limits) : limits.text());
    cx.out.line("Output stat for {} {}", cx.out.shown(path), usage.text());
  } catch (const ZkError& error) {
    if (error.code() != code::no_node) throw;
    throw Error(fmt::format("quota for {} does not exist.", path), status::no_node);
  }
  return status::ok;
}

}  // namespace

extern const Command listquota_command = make_command<Args>(
    {.name = "listquota",
     .group = "Quotas",
     .summary = "Show a node's quota and its usage",
     .keywords = {"limit"},
     .details =
         "The first line has the limits, -1 for none: count (nodes) and bytes are soft, "
         "countHardLimit and byteHardLimit hard. The second has what the server counts: the nodes "
         "of the subtree, its top included, and the bytes of their values.",
     .examples = {{"create /app", "A node."},
                  {"setquota -n 100 /app", "At most a hundred nodes."},
                  {"listquota /app", "The limits, and what is there."}},
     .zkcli_syntax = "path"},
    declare, run);
}  // namespace zksh::command_listquota
