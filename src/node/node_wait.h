// NodeWait: until a node is as somebody wants it to be.
#pragma once

#include "client/client.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace zksh {

/// How many children a node is to have.
class ChildCount {
 public:
  /// "3", ">=3", "<=3", ">3", "<3", or "3+", which is ">=3" without signs that shells know.
  /// Throws ValueError, which names `what`.
  ChildCount(std::string_view text, std::string_view what);

  bool allows(std::int64_t count) const { return count >= least_ && count <= most_; }

 private:
  std::int64_t least_ = 0;
  std::int64_t most_ = 0;
};

/// A node as it was last looked at.
struct NodeState {
  std::optional<Stat> stat{};  ///< nothing: there is no such node
  Data value{};                ///< when it was asked for
  bool known = false;          ///< a server has told it
};

/// What is waited for. Only what `looks_at` names is asked for.
struct NodeCondition {
  enum class LooksAt { Existence, Children, Value };
  LooksAt looks_at = LooksAt::Existence;
  std::function<bool(const NodeState&)> holds{};
};

/// Blocks until the wish holds; returns the node as it is then. Looks again only when a watch says
/// that something has changed, and after a lost connection or an expired session (a new one is
/// opened). `seen` is the node as last seen, also when it throws: ZkError (not for a missing node),
/// Cancelled.
void await_node(Client& client, const std::string& path, const NodeCondition& wish, NodeState& seen,
                const std::stop_token& stop);

}  // namespace zksh
