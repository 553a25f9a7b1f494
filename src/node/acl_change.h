// AclChange: adds entries to an ACL, and removes some, without touching the others.
#pragma once

#include "base/error.h"
#include "client/client.h"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace zksh {

struct AclChange {
  Acl added{};  ///< each replaces the entry of the same id
  /// scheme:id, or digest:USER without the hash, each perhaps with a colon and the permissions that
  /// the entry must have.
  std::vector<std::string> removed{};
  /// The result may be such that nobody can change it.
  bool force = false;
};

/// Nobody could change the ACL after the change.
class UnchangeableAcl : public Error {
 public:
  using Error::Error;
};

/// The ACL after the change; nullopt if that is the same. Throws ZkError{no_auth} if the
/// ACL hides hashes, which must not be written back; UnchangeableAcl.
std::optional<Acl> changed_acl(const std::string& path, const Acl& acl, const AclChange& change);

/// Changes a node's ACL; if somebody else changes it meanwhile, reads it and tries again. Returns
/// whether it was changed. Blocks; throws as changed_acl, ZkError, Cancelled.
bool change_acl(Client& client, const std::string& path, const AclChange& change,
                const std::stop_token& stop);

}  // namespace zksh
