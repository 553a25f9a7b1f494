// NodeChange: one thing that happened to a watched node.
#pragma once

#include "client/client.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zksh {

struct NodeChange {
  enum class Type {
    Present,  ///< it was there when the watch began
    Created,
    Changed,  ///< its value was written
    Deleted,
    Children,  ///< its list of children is another one
    Gap,       ///< for a while nothing could be seen; what was missed follows
  };
  Type type = Type::Changed;
  std::string path{};  ///< empty of a gap
  std::int64_t time =
      0;                ///< when it was noticed, in milliseconds since 1970 by this machine's clock
  bool missed = false;  ///< found out after a gap
  std::optional<Stat> before{};  ///< as last seen
  std::optional<Stat> after{};   ///< nothing where the node was gone before it could be read
  /// When values are wanted; nothing where they are not known.
  std::optional<Data> old_value{};
  std::optional<Data> new_value{};
  std::vector<std::string> added{};  ///< names of children, sorted
  std::vector<std::string> removed{};
  bool expired = false;    ///< of a gap: the session was lost, not only the connection
  std::int64_t since = 0;  ///< of a gap: when it began, as `time`

  /// The session that the node lives and ends with; 0 for none, or not known.
  std::int64_t ephemeral_owner() const {
    return after ? after->ephemeral_owner : before ? before->ephemeral_owner : 0;
  }
};

}  // namespace zksh
