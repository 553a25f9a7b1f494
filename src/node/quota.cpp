// Quota: the nodes that hold the limits and the usage of a subtree.
#include "node/quota.h"

#include <fmt/core.h>

namespace zksh {

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

QuotaText read_quota(Context& cx, const std::string& node) {
  const auto text = cx.client.get(node, Watch::none(), cx.stop).data.value_or("");
  const auto quota = QuotaText::parse(text);
  if (!quota)
    throw Error(fmt::format("{} does not hold a quota: \"{}\"", node, text),
                status::server_refused);
  return *quota;
}

}  // namespace zksh
