// Node JSON: znodes, Stats and ACLs in the form that commands print with -o json.
//
// The schema is zksh's own. Every object about a node names it in "path". Zxids and session ids are
// texts such as "0x1f", as in zkCli: a reader that keeps 53 bits would corrupt them as numbers.
// Times are milliseconds since 1970 UTC.
#pragma once

#include "base/json.h"
#include "client/acl_text.h"
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
/// [{"scheme": …, "id": …, "perms": "cdrwa"}, …]. The hash of a digest is x, as servers show it to
/// sessions that may not set the ACL.
Json acl_json(const Acl& acl);

/// [{"scheme": …, "id": …}, …]; for a digest, only the user.
Json identities_json(const std::vector<Identity>& identities);

/// Prints a value on its own line.
void print_json(Context& cx, const Json& json);
/// Prints what only -o json says of a success.
void acknowledge(Context& cx, const Json& json);
/// Prints a result: with -o json the object, else the line of text.
void print_result(Context& cx, const Json& json, std::string_view line);
/// Begins such a line for an object with large fields: {"path": ….
JsonLine json_line(Context& cx, const std::string& path);

}  // namespace zksh
