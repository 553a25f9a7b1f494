// TreeQuota: the quotas of a subtree's nodes.
#include "tree/tree_quota.h"

#include "base/error.h"
#include "client/node_path.h"
#include "node/quota.h"
#include "tree/walk.h"

#include <fmt/core.h>

namespace zksh {
namespace {

/// Writes a node, which is made where there is none.
void put(Client& client, const std::string& path, const Data& data, const std::stop_token& stop) {
  try {
    client.create({.path = path, .data = data}, stop);
  } catch (const ZkError& error) {
    if (error.code() != code::node_exists) throw;
    if (data) client.set({.path = path, .data = data}, stop);
  }
}

void remove_if_there(Client& client, const std::string& path, const std::stop_token& stop) {
  try {
    client.remove({.path = path}, stop);
  } catch (const ZkError& error) {
    if (error.code() != code::no_node && error.code() != code::not_empty) throw;
  }
}

}  // namespace

std::map<std::string, QuotaLimits> limits_below(Client& client, const std::string& top,
                                                const std::stop_token& stop) {
  std::map<std::string, QuotaLimits> all;
  if (is_within(top, "/zookeeper")) return all;
  const auto root = top == "/" ? std::string(quota_root) : quota_node(top);
  WalkPlan plan{.tops = {root}, .may_be_missing = true, .data = true};
  plan.enter = [&](TreeNode& node) {
    if (base_name(node.path) != limits_name) return;
    const auto quota = QuotaText::parse(node.data.value_or(""));
    if (!quota) return;
    auto limits = no_limits;
    for (std::size_t i = 0; i < limits.size(); ++i) limits.at(i) = quota->get(limit_keys.at(i));
    if (limits != no_limits) all[path_from(root, std::string(parent_path(node.path)))] = limits;
  };
  walk_tree(client, plan, stop);
  return all;
}

void set_limits(Client& client, const std::string& path, const QuotaLimits& limits,
                const std::stop_token& stop) {
  if (!client.exists(std::string(quota_root), Watch::none(), stop))
    throw Error(fmt::format("the quota of {} was not set: through a chroot none counts", path));
  if (limits == no_limits) {
    remove_if_there(client, limits_node(path), stop);
    remove_if_there(client, usage_node(path), stop);
    for (auto node = quota_node(path); node != quota_root; node = parent_path(node))
      remove_if_there(client, node, stop);
    return;
  }
  for (auto slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    put(client, quota_node(path.substr(0, slash)), std::nullopt, stop);
    if (slash == std::string::npos) break;
  }
  QuotaText text;
  for (std::size_t i = 0; i < limits.size(); ++i) text.set(limit_keys.at(i), limits.at(i));
  put(client, limits_node(path), text.text(), stop);
  if (client.exists(usage_node(path), Watch::none(), stop)) return;
  QuotaText usage;
  usage.set(QuotaText::count, 0);
  usage.set(QuotaText::bytes, 0);
  put(client, usage_node(path), usage.text(), stop);
}

}  // namespace zksh
