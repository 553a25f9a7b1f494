// ACL text: parses and formats ACLs as zkCli.sh does.
#pragma once

#include "client/nodes.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

struct ParsedAcl {
  Acl acl;                              ///< empty if no entry is valid
  std::vector<std::string> complaints;  ///< for stderr, one per line, in the order of the text
  std::vector<std::string> misspelt;    ///< the whole entries that have unknown letters
};

/// Parses "scheme:id:perms,…" as AclParser of ZooKeeper 3.8.0 does: skips what is invalid, with a
/// complaint, down to single letters other than r, w, c, d and a. An id may contain colons.
ParsedAcl parse_acl(std::string_view text);

/// Why an entry that servers accept can never match anybody, and what would be right: it grants no
/// permission, or its id is not one of the scheme's. nullopt if it can match. Names no secret.
std::optional<std::string> acl_flaw(const AclEntry& entry);

/// The part of the id of an AclEntry or an Identity that may be shown: for a digest the user, else
/// all.
std::string user_of(const auto& entry) {
  return entry.scheme == "digest" ? entry.id.substr(0, entry.id.find(':')) : entry.id;
}

/// Whether an address matches an entry's id of the scheme ip: "10.0.0.1", or "10.0.0.0/8".
bool is_in_network(std::string_view address, std::string_view id);

/// The permission mask of `text`, letters of "rwcda"; nullopt if it is empty or has any other
/// letter.
std::optional<int> perms_of(std::string_view text);

/// "scheme:id:perms,…", as parse_acl and setAcl read it.
std::string acl_text(const Acl& acl);

/// The same ACL, with x for the hash of each digest, or what was taken for one.
Acl without_hashes(Acl acl);

/// The letters of a permission mask, in zkCli's order: "cdrwa".
std::string perm_letters(int perms);

/// The two lines per entry that getAcl prints: "'world,'anyone\n: cdrwa\n". Commas, line ends, `}`
/// and `%` in a scheme or an id are escaped as %2C and so on, as by jute's toString.
std::string acl_lines(const Acl& acl);

}  // namespace zksh
