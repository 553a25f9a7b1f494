// Node JSON: what commands say of a node with -o json.
//
// The schema is zksh's own. Every object of a command names its node in "path". Zxids and session
// ids are texts such as "0x1f", as zkCli prints them: as numbers they would not survive a reader
// that keeps 53 bits. Times are milliseconds since 1970 UTC.
#pragma once

#include "base/json.h"
#include "client/client.h"
#include "command/command.h"

#include <string>
#include <vector>

namespace zksh {

/// {"path": …}
Json path_json(const std::string& path);
/// {"czxid": "0x…", "mzxid": "0x…", "pzxid": "0x…", "ctime": …, "mtime": …, "version": …,
/// "cversion": …, "aversion": …, "ephemeralOwner": "0x…" or null, "dataLength": …,
/// "numChildren": …}
Json stat_json(const Stat& stat);
/// A text, {"base64": …} for bytes that are not UTF-8, or null.
Json data_json(const Data& data);
/// [{"scheme": …, "id": …, "perms": "cdrwa"}, …]; the hash of a digest is x, as the servers show it
/// to those who may not set the ACL.
Json acl_json(const Acl& acl);

/// [{"scheme": …, "id": …}, …]; of a digest the user alone.
Json identities_json(const std::vector<Identity>& identities);
/// What may be shown of an identity: of a digest the user, of others all.
std::string user_of(const Identity& identity);

/// Prints a value on a line of its own.
void print_json(Context& cx, const Json& json);

}  // namespace zksh
