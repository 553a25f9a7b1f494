// TreeRecord: one node of a subtree as dump, apply and diff see it, and the order they go in.
#pragma once

#include "client/client.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace zksh {

/// What decides when a node ends.
enum class NodeKind { Persistent, Container, Ttl, Ephemeral };

struct NodeLife {
  NodeKind kind = NodeKind::Persistent;
  std::int64_t ttl = 0;  ///< milliseconds; of Ttl alone
  bool certain = true;   ///< false: it may be a container, or have a TTL, as well
};
/// Whether what is known of two nodes does not say that they differ.
bool agree(const NodeLife& life, const NodeLife& other);

/// As ZooKeeper keeps it in a Stat's ephemeralOwner (EphemeralType.java of 3.8.0): the lowest
/// number is a container's, 0xff in the highest byte and zeros in the next two mark a TTL in the
/// lower 40 bits; any other number but 0 is a session. Servers that emulate 3.5.3
/// (EphemeralTypeEmulate353) keep a TTL another way, which passes for a session here. ZooKeeper's
/// own servers write 0 in the Stat that a client gets of a container or of a node with a TTL
/// (DataNode.copyStat): what is persistent by its Stat is not certain to be so.
NodeLife life_of(const Stat& stat);
/// "persistent", "container", "ttl=1500", "ephemeral".
std::string life_text(const NodeLife& life);

/// The limits of a quota in the order of limit_keys, -1 where there is none.
using QuotaLimits = std::array<std::int64_t, 4>;
inline constexpr QuotaLimits no_limits{-1, -1, -1, -1};
extern const std::array<std::string_view, 4> limit_keys;
/// "count=5,bytes=100": the limits that there are. Empty when there are none.
std::string limits_text(const QuotaLimits& limits);

struct TreeRecord {
  std::string path{};  ///< below the top: "/a/b"; empty for the top itself
  NodeLife life{};
  Acl acl{};
  Data data{};
  QuotaLimits limits = no_limits;
};

/// Whether one path stands before another: a node before all that is below it, siblings in the
/// order of their bytes, each with its whole subtree.
bool stands_before(std::string_view path, std::string_view other);
/// Whether a node is below another, or is it. Absolute paths other than "/", or a record's.
bool is_within(std::string_view path, std::string_view top);

/// The absolute path of a record below a top, and back. `path` must be within `top`.
std::string path_below(const std::string& top, std::string_view relative);
std::string path_from(const std::string& top, const std::string& path);

}  // namespace zksh
