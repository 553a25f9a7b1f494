// Znode: what ZooKeeper keeps of a node: its value, its metadata, its children.
#pragma once

#include "base/name_list.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zksh {

/// A znode's metadata, as the server keeps it. Times in milliseconds since 1970 UTC.
struct Stat {
  std::int64_t czxid = 0;
  std::int64_t mzxid = 0;
  std::int64_t ctime = 0;
  std::int64_t mtime = 0;
  std::int32_t version = 0;
  std::int32_t cversion = 0;
  std::int32_t aversion = 0;
  std::int64_t ephemeral_owner = 0;
  std::int32_t data_length = 0;
  std::int32_t num_children = 0;
  std::int64_t pzxid = 0;
};

/// A znode's value: bytes, or null, which is not the same as empty.
using Data = std::optional<std::string>;

struct Node {
  Data data;
  Stat stat;
};

struct Children {
  std::vector<std::string> names;  ///< in the server's order
  Stat stat;                       ///< the parent's
};

/// As Children, of any number.
struct Listing {
  NameList names;  ///< in the server's order
  Stat stat;       ///< the parent's
};

}  // namespace zksh
