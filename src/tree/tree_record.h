// TreeRecord: a node as dump, apply and diff see it, and the order of nodes in a subtree.
#pragma once

#include "base/named_values.h"
#include "client/nodes.h"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace zksh {

/// The kinds of nodes, which differ in when they are removed.
enum class NodeKind { Persistent, Container, Ttl, Ephemeral };
inline constexpr NamedValues<NodeKind, 4> kind_names{{{"persistent", NodeKind::Persistent},
                                                      {"container", NodeKind::Container},
                                                      {"ttl", NodeKind::Ttl},
                                                      {"ephemeral", NodeKind::Ephemeral}}};

struct NodeLife {
  NodeKind kind = NodeKind::Persistent;
  std::int64_t ttl = 0;  ///< in milliseconds; only for Ttl
  bool certain = true;   ///< false: may also be a container or have a TTL
};
/// Whether two nodes may have the same kind, by what is known.
bool agree(const NodeLife& life, const NodeLife& other);

/// Decodes a Stat's ephemeralOwner (EphemeralType.java in 3.8.0): the lowest number means a
/// container; 0xff in the highest byte and zeros in the next two, a TTL in the lower 40 bits; any
/// other number but 0, a session. Servers that emulate 3.5.3 (EphemeralTypeEmulate353) encode TTLs
/// differently; these look like sessions here. Clients of ZooKeeper's own servers see 0 for
/// containers and TTL nodes (DataNode.copyStat), so what seems persistent is not certain to be.
NodeLife life_of(const Stat& stat);
/// "persistent", "container", "ttl=1500", "ephemeral".
std::string life_text(const NodeLife& life);

/// The limits of a quota in the order of limit_keys; -1 where there is none.
using QuotaLimits = std::array<std::int64_t, 4>;
inline constexpr QuotaLimits no_limits{-1, -1, -1, -1};
extern const std::array<std::string_view, 4> limit_keys;
/// "count=5,bytes=100": the existing limits; empty if there are none.
std::string limits_text(const QuotaLimits& limits);

struct TreeRecord {
  std::string path{};  ///< relative to the top: "/a/b"; empty for the top itself
  NodeLife life{};
  Acl acl{};
  Data data{};
  QuotaLimits limits = no_limits;
};

/// Returns a subtree's records in the order of stands_before, the top first; nullopt at the end.
using RecordStream = std::function<std::optional<TreeRecord>()>;

/// The order of records: a node before its descendants, siblings in byte order, each with its whole
/// subtree.
bool stands_before(std::string_view path, std::string_view other);
/// Whether a node is `top` or below it. Absolute paths, or record paths.
bool is_within(std::string_view path, std::string_view top);

/// Convert between a record's path and the absolute path below a top. `path` must be within `top`.
std::string path_below(const std::string& top, std::string_view relative);
std::string path_from(const std::string& top, const std::string& path);

}  // namespace zksh
