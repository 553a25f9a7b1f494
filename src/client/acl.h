// Acl: who may do what with a node, and who a session is.
#pragma once

#include "client/znode.h"

#include <string>
#include <vector>

namespace zksh {

namespace perm {
inline constexpr int read = 1;
inline constexpr int write = 2;
inline constexpr int create = 4;
inline constexpr int remove = 8;
inline constexpr int admin = 16;
inline constexpr int all = 31;
}  // namespace perm

struct AclEntry {
  int perms = 0;
  std::string scheme;
  std::string id;

  bool operator==(const AclEntry&) const = default;
};
using Acl = std::vector<AclEntry>;

/// world:anyone with every permission.
inline Acl open_acl() { return {{.perms = perm::all, .scheme = "world", .id = "anyone"}}; }

struct NodeAcl {
  Acl acl;
  Stat stat;
};

/// Who a session is to the servers: what they compare with the entries of an ACL.
struct Identity {
  std::string scheme;
  std::string id;  ///< of digest: the user, a colon and a hash; never the password

  bool operator==(const Identity&) const = default;
};

/// What makes a session to be somebody: of digest, a user, a colon and the password.
struct Credential {
  std::string scheme;
  std::string secret;

  bool operator==(const Credential&) const = default;
};

}  // namespace zksh
