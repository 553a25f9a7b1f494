// NodeChange: one change of a watched node.
#pragma once

#include "client/client.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zksh {

struct NodeChange {
  enum class Type {
    Present,  ///< existed when the watch began
    Created,
    Changed,  ///< its value was set
    Deleted,
    Children,  ///< its list of children changed
    Gap,       ///< changes could not be observed for a while; those missed follow
  };
  Type type = Type::Changed;
  std::string path{};  ///< empty for a gap
  std::int64_t time =
      0;                ///< when it was noticed, in milliseconds since 1970 by this machine's clock
  bool missed = false;  ///< discovered after a gap
  std::optional<Stat> before{};  ///< as last seen
  std::optional<Stat> after{};   ///< nullopt if the node was gone before it could be read
  /// Only if values were requested and are known.
  std::optional<Data> old_value{};
  std::optional<Data> new_value{};
  std::vector<std::string> added{};  ///< names of children, sorted
  std::vector<std::string> removed{};
  bool expired = false;    ///< for a gap: the session was lost, not only the connection
  std::int64_t since = 0;  ///< for a gap: when it began, as `time`

  /// The session that owns the node; 0 if it is not ephemeral, or not known.
  std::int64_t ephemeral_owner() const {
    return after ? after->ephemeral_owner : before ? before->ephemeral_owner : 0;
  }
};

}  // namespace zksh
