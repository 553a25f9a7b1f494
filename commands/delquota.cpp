// delquota: remove the quota of a node, or one of its limits.
#include "client/client.h"
#include "node/quota.h"

namespace zksh::command_delquota {
namespace {

struct Args {
  bool count = false;
  bool bytes = false;
  bool count_hard = false;
  bool bytes_hard = false;
  std::string path;
};

void declare(Options& o, Args& a) {
  o.exclusive().flag("-n,--nodes", a.count, "Remove only the soft limit on nodes.");
  o.exclusive().flag("-b,--bytes", a.bytes, "Remove only the soft limit on bytes.");
  o.exclusive().flag("-N,--hard-nodes", a.count_hard, "Remove only the hard limit on nodes.");
  o.exclusive().flag("-B,--hard-bytes", a.bytes_hard, "Remove only the hard limit on bytes.");
  o.node("path", a.path, "The node that has the quota.");
}

int run(Context& cx, const Args& a) {
  const auto path = quota_argument(cx, a.path);
  const QuotaPlace place(cx.client, cx.stop);
  const auto node = limits_node(place.whole(path));
  check_path(node);
  if (!place.client().exists(node, Watch::none(), cx.stop)) {
    if (cx.out.json() || cx.rehearsal)
      throw Error(fmt::format("Quota does not exist for {}", path), status::no_node);
    cx.out.line("Quota does not exist for {}", cx.out.shown(path));
    return cx.excused(status::no_node);
  }
  if (!a.count && !a.bytes && !a.count_hard && !a.bytes_hard) {
    remove_quota(place, path, cx.stop);
    return status::ok;
  }
  auto limits = read_quota(place, node, cx.stop);
  if (a.count) limits.set(QuotaText::count, -1);
  if (a.bytes) limits.set(QuotaText::bytes, -1);
  if (a.count_hard) limits.set(QuotaText::count_hard_limit, -1);
  if (a.bytes_hard) limits.set(QuotaText::byte_hard_limit, -1);
  place.write([&] { place.client().set({.path = node, .data = limits.text()}, cx.stop); }, cx.stop);
  return status::ok;
}

}  // namespace

extern const Command delquota_command = make_command<Args>(
    {.name = "delquota",
     .group = "Quotas",
     .summary = "Remove the quota of a node, or one of its limits",
     .keywords = {"quota", "limit"},
     .details = "Prints nothing on success. With an option, only that limit is removed, and the "
                "servers go on counting even if it was the last one.",
     .examples = {{"create /app", "A node."},
                  {"setquota -n 100 /app", "Set a limit of a hundred nodes."},
                  {"delquota -n /app", "Remove the limit; nodes are still counted."},
                  {"delquota /app", "No quota."}},
     .zkcli_syntax = "[-n|-b|-N|-B] path",
     .writes = true},
    declare, run);
}  // namespace zksh::command_delquota
