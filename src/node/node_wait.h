// NodeWait: waits until a node meets a condition.
#pragma once

#include "client/nodes.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace zksh {

class Client;

/// A condition on the number of children.
class ChildCount {
 public:
  /// Parses "3", ">=3", "<=3", ">3", "<3", or "3+", which means ">=3" without characters that are
  /// special to shells. Throws ValueError naming `what`.
  ChildCount(std::string_view text, std::string_view what);

  bool allows(std::int64_t count) const { return count >= least_ && count <= most_; }

 private:
  std::int64_t least_ = 0;
  std::int64_t most_ = 0;
};

/// A node as it was last read.
struct NodeState {
  std::optional<Stat> stat{};  ///< nullopt: there is no such node
  Data value{};                ///< only if it was read
  bool known = false;          ///< a server has answered
};

/// The condition. Only what `looks_at` names is read.
struct NodeCondition {
  enum class LooksAt { Existence, Children, Value };
  LooksAt looks_at = LooksAt::Existence;
  std::function<bool(const NodeState&)> holds{};
};

/// Blocks until the condition holds. Reads the node again only after a watch event, a lost
/// connection or an expired session, which is replaced by a new one. `seen` is the node as last
/// seen, also if this throws: ZkError (but not for a missing node), Cancelled.
void await_node(Client& client, const std::string& path, const NodeCondition& condition,
                NodeState& seen, const std::stop_token& stop);

}  // namespace zksh
