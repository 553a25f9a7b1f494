// acl_argument: parses the ACL argument of create and setAcl.
#pragma once

#include "command/command.h"

#include <string>

namespace zksh {

/// Parses `scheme:id:perms[,…]`, the ACL to be set on `path`, a word of the command line. Throws
/// ZkError{invalid_acl} if an entry is invalid; on piped input, as in zkCli, reports it on stderr
/// and leaves the entry out, so that the result may be empty.
Acl acl_argument(Context& cx, const std::string& text, const std::string& path);

/// Throws ZkError{invalid_acl} if the ACL is empty, with zkCli's text: the Java client does not
/// send one.
void refuse_empty(const Acl& acl);

}  // namespace zksh
