// ACL argument: the ACLs that users give, and changes of one.
#pragma once

#include "base/error.h"
#include "client/nodes.h"
#include "command/command.h"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace zksh {

class Client;

/// Whether servers have shown a digest's hash as x, as they do to sessions that may not administer
/// the node.
bool hides_hash(const Acl& acl);

/// Declares --force, which acl_argument takes.
void declare_force_acl(Options& options, bool& force);

/// The id of the digest scheme, "USER:HASH". `from`: @FILE or - for the password (see value_of);
/// empty: it is asked for. Blocks. Throws UsageError, Cancelled.
std::string digest_of_password(Context& cx, const std::string& user, const std::string& from);

/// Parses `scheme:id:perms[,…]`, the ACL to be set on `path`, a word of the command line. Throws
/// ZkError{invalid_acl} if an entry is malformed, and without `force` ValueError if nobody can ever
/// meet one (acl_flaw). On piped input, as in zkCli, reports a malformed entry on stderr and leaves
/// it out, so that the result may be empty, and accepts what nobody can meet. Elsewhere,
/// digest:USER:@FILE and digest:USER: stand for the hash of a password from a file or the terminal.
Acl acl_argument(Context& cx, const std::string& text, const std::string& path, bool force);

/// The error of a write with this ACL; if the servers have refused the ACL, says what they may not
/// know in it. Not on piped input.
ZkError explained_acl(const Context& cx, const ZkError& error, const Acl& acl);
/// Returns what `body` does, which writes with this ACL; throws explained_acl of its ZkError.
template <class Body>
auto explaining_acl(const Context& cx, const Acl& acl, Body&& body) {
  try {
    return body();
  } catch (const ZkError& error) {
    throw ZkError(explained_acl(cx, error, acl));
  }
}

/// Nobody could change the ACL any more.
class UnchangeableAcl : public Error {
 public:
  using Error::Error;
};
/// Whether an entry that can be met has the permission to set the ACL.
bool may_be_changed(const Acl& acl);
/// "nobody could change the ACL of /a any more, since …".
std::string sealed_text(const std::string& path);
/// Throws ZkError{invalid_acl} if the ACL is empty, and UnchangeableAcl if no entry with the
/// permission to set it can be met; the latter not with `force`, and not on piped input, where
/// zkCli would do it.
void refuse_sealed(const Context& cx, const Acl& acl, const std::string& path, bool force);
/// As refuse_sealed, but also throws if this session could not change the ACL, of a node that
/// exists. Asks the server only if that is not known here. Blocks; throws ZkError, Cancelled.
void refuse_lockout(Context& cx, const Acl& acl, const std::string& path, bool force);

struct AclChange {
  Acl added{};  ///< each replaces the entry of the same id
  /// scheme:id, or digest:USER without the hash, each perhaps with a colon and the permissions that
  /// the entry must have.
  std::vector<std::string> removed{};
  /// Allow a result that nobody can change any more.
  bool force = false;
};

/// The ACL after the change; nullopt if that is the same. Throws ZkError{no_auth} if the
/// ACL hides hashes, which must not be written back; UnchangeableAcl.
std::optional<Acl> changed_acl(const std::string& path, const Acl& acl, const AclChange& change);

/// Changes a node's ACL; if somebody else changes it meanwhile, reads it and tries again. Returns
/// whether it was changed. Blocks; throws as changed_acl, ZkError, Cancelled.
bool change_acl(Client& client, const std::string& path, const AclChange& change,
                const std::stop_token& stop);

}  // namespace zksh
