// AclArgument: an ACL as create and setAcl take it on their command lines.
#pragma once

#include "command/command.h"

#include <string>

namespace zksh {

/// Parses `scheme:id:perms[,…]`. Throws Error for what is wrong with a part; on piped input it is
/// told on stderr and the part left out, as zkCli does, and the result may be empty.
Acl acl_argument(Context& cx, const std::string& text);

/// Throws ZkError{invalid_acl} for an empty ACL, in the words of zkCli: the Java client sends none.
void refuse_empty(const Acl& acl);

}  // namespace zksh
