// Quota: the nodes that hold the limits and the usage of a subtree.
#include "node/quota.h"

#include "node/parents.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

namespace zksh {
namespace {

/// Creates a node unless it exists. One that exists may be in a node where this session may not
/// create any, so that is asked first.
void create_missing(Client& client, const std::string& path, const std::stop_token& stop) {
  if (!client.exists(path, Watch::none(), stop))
    create_if_missing(client, {.path = path, .data = std::nullopt}, stop);
}

}  // namespace

std::string quota_node(const std::string& path) { return std::string(quota_root) + path; }

std::string limits_node(const std::string& path) {
  return fmt::format("{}{}/{}", quota_root, path, limits_name);
}

std::string usage_node(const std::string& path) {
  return fmt::format("{}{}/{}", quota_root, path, usage_name);
}

std::string quota_argument(const Context& cx, const std::string& path) {
  if (cx.input == Input::Pipe && path_flaw(path)) return path;
  return cx.resolve(path);
}

void write_quota(Client& client, const std::string& path, const QuotaText& limits,
                 const std::stop_token& stop) {
  create_missing(client, "/zookeeper", stop);
  create_missing(client, std::string(quota_root), stop);
  for (auto slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    create_missing(client, quota_node(path.substr(0, slash)), stop);
    if (slash == std::string::npos) break;
  }
  const auto node = limits_node(path);
  const auto usage = usage_node(path);
  const bool has_limits = client.exists(node, Watch::none(), stop).has_value();
  const bool has_usage = client.exists(usage, Watch::none(), stop).has_value();
  std::vector<Op> ops;
  ops.reserve(3);
  if (has_limits)
    ops.emplace_back(SetOp{.path = node, .data = limits.text()});
  else
    ops.emplace_back(CreateOp{.path = node, .data = limits.text()});
  if (!has_limits || !has_usage) {
    // The servers count when the node is created.
    if (has_usage) ops.emplace_back(RemoveOp{.path = usage});
    QuotaText nothing;
    nothing.set(QuotaText::count, 0);
    nothing.set(QuotaText::bytes, 0);
    ops.emplace_back(CreateOp{.path = usage, .data = nothing.text()});
  }
  client.multi(ops, stop);
}

void remove_quota(Client& client, const std::string& path, const std::stop_token& stop) {
  std::vector<Op> ops;
  for (const auto& node : {limits_node(path), usage_node(path)})
    if (client.exists(node, Watch::none(), stop)) ops.emplace_back(RemoveOp{.path = node});
  client.multi(ops, stop);
  try {
    for (auto node = quota_node(path); node != quota_root; node = parent_path(node)) {
      if (!client.children(node, Watch::none(), stop).names.empty()) return;
      client.remove({.path = node}, stop);
    }
  } catch (const ZkError& error) {
    // Somebody else sets or removes a quota beside it.
    if (error.code() != code::no_node && error.code() != code::not_empty) throw;
  }
}

bool exceeds(const QuotaText& usage, const QuotaText& limits, std::string_view what) {
  const auto hard =
      what == QuotaText::count ? QuotaText::count_hard_limit : QuotaText::byte_hard_limit;
  return std::ranges::any_of(std::array{what, hard}, [&](std::string_view limit) {
    return limits.get(limit) >= 0 && limits.get(limit) < usage.get(what);
  });
}

QuotaText read_quota(Context& cx, const std::string& node) {
  const auto text = cx.client.get(node, Watch::none(), cx.stop).data.value_or("");
  const auto quota = QuotaText::parse(text);
  if (!quota)
    throw Error(fmt::format("{} does not hold a quota: \"{}\"", node, text),
                status::server_refused);
  return *quota;
}

}  // namespace zksh
