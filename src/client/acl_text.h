// ACL text: ACLs as zkCli.sh reads and writes them.
#pragma once

#include "client/client.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

struct ParsedAcl {
  Acl acl;                              ///< empty when no part could be used
  std::vector<std::string> complaints;  ///< for stderr, one a line, in the order of the text
};

/// Parses "scheme:id:perms,…" as AclParser of ZooKeeper 3.8.0 does: what it cannot use is skipped
/// with a complaint, so that letters other than r, w, c, d and a are left out one by one. An id may
/// contain colons.
ParsedAcl parse_acl(std::string_view text);

/// The mask of `text`, letters of rwcda; nothing: there is another one among them, or none.
std::optional<int> perms_of(std::string_view text);

/// "scheme:id:perms,…", as parse_acl and setAcl take it.
std::string acl_text(const Acl& acl);

/// The letters of a permission mask, in zkCli's order: "cdrwa".
std::string perm_letters(int perms);

/// The two lines of each entry, as getAcl prints them: "'world,'anyone\n: cdrwa\n". Commas, line
/// ends, `}` and `%` in a scheme or an id appear as %2C and so on, as in jute's toString.
std::string acl_lines(const Acl& acl);

}  // namespace zksh
