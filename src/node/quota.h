// Quota: where the limits and the counts of a subtree are kept, and how the commands read them.
#pragma once

#include "client/quota_text.h"
#include "command/command.h"

#include <string>

namespace zksh {

/// Below it, the tree of the nodes with quotas is repeated.
inline constexpr std::string_view quota_root = "/zookeeper/quota";
inline constexpr std::string_view limits_name = "zookeeper_limits";
inline constexpr std::string_view usage_name = "zookeeper_stats";

/// The node of the quota tree that stands for `path`.
std::string quota_node(const std::string& path);
/// Its children: what the user set, and what the servers count.
std::string limits_node(const std::string& path);
std::string usage_node(const std::string& path);

/// A path as listquota and delquota take it: zkCli looks at it only when it stands behind
/// quota_root, and so does this on piped input. Throws UsageError elsewhere.
std::string quota_argument(const Context& cx, const std::string& path);

/// Reads limits or usage. Throws ZkError, and Error when the node holds something else.
QuotaText read_quota(Context& cx, const std::string& node);

}  // namespace zksh
