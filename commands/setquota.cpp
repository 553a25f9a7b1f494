// setquota: limit the number of nodes or bytes of a subtree.
#include "base/number.h"
#include "client/client.h"
#include "command/zkcli_style.h"
#include "node/quota.h"
#include "tree/tree_record.h"
#include "tree/walk.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <vector>

namespace zksh::command_setquota {
namespace {

struct Args {
  std::optional<std::string> count;
  std::optional<std::string> bytes;
  std::optional<std::string> count_hard;
  std::optional<std::string> bytes_hard;
  std::string path;
};

void declare(Options& o, Args& a) {
  o.exclusive().text("-n,--nodes", a.count, "Soft limit on nodes, including the top; at least 1.",
                     "val");
  o.exclusive().text("-b,--bytes", a.bytes, "Soft limit on the bytes of all values.", "val");
  o.exclusive().text("-N,--hard-nodes", a.count_hard, "Hard limit on nodes; at least 1.", "val");
  o.exclusive().text("-B,--hard-bytes", a.bytes_hard, "Hard limit on bytes.", "val");
  o.node("path", a.path, "The top of the subtree.");
}

struct Limit {
  std::string_view option;
  std::string_view key;
  std::string text;
};

std::vector<Limit> chosen_limits(const Args& a) {
  std::vector<Limit> limits;
  const auto add = [&](std::string_view option, std::string_view key, const auto& text) {
    if (text) limits.push_back({option, key, *text});
  };
  add("-n", QuotaText::count, a.count);
  add("-b", QuotaText::bytes, a.bytes);
  add("-N", QuotaText::count_hard_limit, a.count_hard);
  add("-B", QuotaText::byte_hard_limit, a.bytes_hard);
  if (limits.empty()) throw SyntaxError("one of -n, -b, -N and -B must be given");
  return limits;
}

std::int64_t value_of_limit(const Context& cx, const Limit& limit) {
  const bool counts = limit.key == QuotaText::count || limit.key == QuotaText::count_hard_limit;
  using Int = std::numeric_limits<std::int32_t>;
  using Long = std::numeric_limits<std::int64_t>;
  std::int64_t value = 0;
  const bool has_unit = !counts && cx.input != Input::Pipe && !is_number(limit.text);
  try {
    value = has_unit ? parse_size(limit.text, limit.option)
                     : parse_number(limit.text, limit.option, counts ? Int::min() : Long::min(),
                                    counts ? Int::max() : Long::max());
  } catch (const UsageError&) {
    if (cx.input != Input::Pipe) throw;
    throw excused_error(ValueError("NumberFormatException happens when parsing the option value"));
  }
  if (counts && value <= 0)
    throw excused_error(ValueError("the num quota must be greater than zero"));
  if (value < 0)
    throw excused_error(ValueError("the bytes quota must be greater than or equal to zero"));
  return value;
}

void refuse_quota_tree(const std::string& path) {
  if (path.starts_with(quota_root))
    throw excused_error(
        ValueError(fmt::format("cannot set a quota under the path: {}", quota_root)));
}

/// Throws if a node below has a quota: quotas must not overlap.
void refuse_quota_below(Context& cx, const QuotaPlace& place, const std::string& path) {
  const auto top = quota_node(place.whole(path));
  std::vector<std::string> nodes;  // in the order in which zkCli looks at them
  std::set<std::string, std::less<>> with_quota;
  try {
    visit_subtree(
        place.client(), top, Watch::none(), {},
        [&](const std::string& node) {
          nodes.push_back(node);
          if (base_name(node) == limits_name) with_quota.emplace(parent_path(node));
        },
        cx.stop);
  } catch (const ZkError& error) {
    if (error.code() != code::no_node) throw;
  }
  for (const auto& node : nodes)
    if (node != top && with_quota.contains(node))
      throw Error(fmt::format("{} has a child {} which has a quota", path,
                              place.inside_chroot(node.substr(quota_root.size()))));
}

void refuse_quota_above(Context& cx, const QuotaPlace& place, const std::string& path) {
  const auto whole = place.whole(path);
  for (auto slash = whole.find('/', 1); slash != std::string::npos;
       slash = whole.find('/', slash + 1)) {
    const auto above = whole.substr(0, slash);
    try {
      const auto names =
          place.client().children(quota_node(above), Watch::none(), cx.stop).names.strings();
      if (names.empty()) return;
      if (std::ranges::count(names, limits_name) > 0)
        throw Error(
            fmt::format("{} has a parent {} which has a quota", path, place.inside_chroot(above)));
    } catch (const ZkError& error) {
      if (error.code() != code::no_node) throw;
      return;
    }
  }
}

/// zkCli's form, on standard output.
void warn(Context& cx, std::string_view what, std::int64_t used) {
  if (cx.out.json())
    cx.out.err_line("the {} quota is less than what there is: {}", what, used);
  else
    cx.out.line("[Warning]: the {} quota you create is less than the existing {}:{}", what, what,
                used);
}

/// Whether one of these limits is on `what`. zkCli warns about others, too.
bool limits_it(const Context& cx, const std::map<std::string_view, std::int64_t>& values,
               std::string_view what) {
  return cx.input != Input::Terminal || values.contains(what) ||
         values.contains(what == QuotaText::count ? QuotaText::count_hard_limit
                                                  : QuotaText::byte_hard_limit);
}

void write_values(Context& cx, const QuotaPlace& place, const std::string& path,
                  const std::map<std::string_view, std::int64_t>& values) {
  const auto node = limits_node(place.whole(path));
  QuotaText limits;
  if (place.client().exists(node, Watch::none(), cx.stop))
    limits = read_quota(place, node, cx.stop);
  else
    for (const auto each : limit_keys) limits.set(each, -1);
  for (const auto& [key, value] : values) limits.set(key, value);
  write_quota(place, path, limits, cx.stop);
  // The server has counted by now, unless this is a rehearsal.
  const auto counted = usage_node(place.whole(path));
  if (!place.client().exists(counted, Watch::none(), cx.stop)) return;
  const auto usage = read_quota(place, counted, cx.stop);
  for (const auto what : {QuotaText::count, QuotaText::bytes})
    if (limits_it(cx, values, what) && exceeds(usage, limits, what))
      warn(cx, what, usage.get(what));
}

int run(Context& cx, const Args& a) {
  const auto limits = chosen_limits(a);
  if (prints_as_34(cx))
    cx.out.err_line("Comment: the parts are option {} val {} path {}", limits.front().option,
                    limits.front().text, a.path);
  refuse_quota_tree(a.path);  // before anything else, as in zkCli
  std::map<std::string_view, std::int64_t> values;
  for (const auto& limit : limits) values[limit.key] = value_of_limit(cx, limit);
  const auto path = cx.resolve(a.path);
  refuse_quota_tree(path);
  if (!cx.client.exists(path, Watch::none(), cx.stop))
    throw Error(fmt::format("{} does not exist.", path), status::no_node);
  const QuotaPlace place(cx.client, cx.stop);
  if (place.whole(path) == "/" && cx.input == Input::Terminal)
    throw ValueError("/ cannot have a quota: servers keep those of the nodes below it alone");
  check_path(quota_node(place.whole(path)));  // "/" has no node there
  refuse_quota_below(cx, place, path);
  refuse_quota_above(cx, place, path);
  write_values(cx, place, path, values);
  return status::ok;
}

}  // namespace

extern const Command setquota_command = make_command<Args>(
    {.name = "setquota",
     .group = "Quotas",
     .summary = "Limit the nodes or bytes of a subtree",
     .keywords = {"quota", "limit"},
     .details = "Sets the limits that are given; the node's others stay. -b and -B take bytes, or "
                "a size such as 4k or 1M. When a soft limit is exceeded, the servers only log a "
                "warning; a hard limit is enforced if they run with enforceQuota=true. zksh warns "
                "if the subtree already exceeds the limit. A node below or above another node with "
                "a quota cannot have one. Quotas are kept in /zookeeper/quota; through a chroot, "
                "zksh opens a second session to reach it.",
     .examples = {{"create /app", "A node."},
                  {"setquota -n 100 /app", "A soft limit of a hundred nodes."},
                  {"setquota -N 200 -B 1M /app", "Hard limits of 200 nodes and a MiB."}},
     .zkcli_syntax = "-n|-b|-N|-B val path",
     .writes = true},
    declare, run);
}  // namespace zksh::command_setquota
