// Node filter: selects nodes of a walk by the user's criteria.
#pragma once

#include "command/options.h"
#include "tree/tree_record.h"
#include "tree/walk.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace zksh {

struct Context;

/// The criteria as the user gave them.
struct NodeFilterOptions {
  std::optional<std::string> name{};
  std::optional<std::string> any_case_name{};
  std::optional<std::string> regex{};
  std::optional<NodeKind> type{};
  std::optional<std::string> owner{};
  std::optional<std::string> acl{};
  std::optional<std::string> newer{};
  std::optional<std::string> older{};
  std::optional<std::string> least_size{};
  std::optional<std::string> most_size{};
  std::optional<std::int64_t> least_version{};
  std::optional<std::int64_t> most_version{};
  std::optional<std::int64_t> least_depth{};
  std::optional<std::int64_t> most_depth{};
  std::optional<std::int64_t> least_children{};
  std::optional<std::int64_t> most_children{};

  /// Whether a criterion is about a node's Stat.
  bool needs_stats() const {
    return type || owner || newer || older || least_size || most_size || least_version ||
           most_version || least_children || most_children;
  }
};
void declare_node_filter(Options& options, NodeFilterOptions& filter);

/// Declares an option whose value requested_session reads.
void declare_session(Options& options, std::string_view names, std::optional<std::string>& into);
/// Parses a session id as servers write it, "0x100000abc", or without the 0x. Throws ValueError.
std::int64_t parse_session_id(const std::string& text, std::string_view what);
/// The same, or "me" for the client's own session, for which it blocks until there is one.
std::int64_t requested_session(const Context& cx, const std::string& text, std::string_view option);

/// Returns a function that says whether a node meets all criteria. Ages are relative to now, by
/// this machine's clock. Blocks as requested_session does. Throws ValueError for invalid criteria.
std::function<bool(const TreeNode&)> node_filter(const Context& cx,
                                                 const NodeFilterOptions& options);

}  // namespace zksh
