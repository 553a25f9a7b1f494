// AclChange: adds entries to an ACL, and removes some.
#include "node/acl_change.h"

#include "client/acl_text.h"
#include "client/zk_error.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace zksh {
namespace {

/// Of ACLs as servers show them to sessions that may not set them.
bool hides_hash(const AclEntry& entry) {
  return entry.scheme == "digest" && entry.id.ends_with(":x");
}

bool is_named_by(const AclEntry& entry, const std::string& text) {
  const auto id = entry.scheme + ':' + entry.id;
  const auto user =
      entry.scheme == "digest" ? entry.scheme + ':' + entry.id.substr(0, entry.id.find(':')) : id;
  const auto perms = ':' + perm_letters(entry.perms);
  const std::array names{id, user, id + perms, user + perms};
  return std::ranges::find(names, text) != names.end();
}

bool may_be_changed(const Acl& acl) {
  return std::ranges::any_of(acl, [](const AclEntry& entry) {
    return (entry.perms & perm::admin) != 0 && !acl_flaw(entry);
  });
}

}  // namespace

std::optional<Acl> changed_acl(const std::string& path, const Acl& acl, const AclChange& change) {
  if (std::ranges::any_of(acl, hides_hash))
    throw ZkError(
        ZkError(code::no_auth, path),
        ": the servers hide the hashes in its ACL from this session, which may not set it");
  auto result = acl;
  for (const auto& text : change.removed)
    std::erase_if(result, [&](const AclEntry& entry) { return is_named_by(entry, text); });
  for (const auto& added : change.added) {
    const auto same = std::ranges::find_if(result, [&](const AclEntry& entry) {
      return entry.scheme == added.scheme && entry.id == added.id;
    });
    if (same == result.end())
      result.push_back(added);
    else
      *same = added;
  }
  if (result == acl) return std::nullopt;
  if (result.empty())
    throw UnchangeableAcl(fmt::format("the ACL of {} would be empty; nothing was written", path));
  if (!change.force && !may_be_changed(result))
    throw UnchangeableAcl(
        fmt::format("nobody could change the ACL of {} any more, since no entry would have "
                    "the permission a; nothing was written (--force does it)",
                    path));
  return result;
}

bool change_acl(Client& client, const std::string& path, const AclChange& change,
                const std::stop_token& stop) {
  while (true) {
    const auto now = client.get_acl(path, stop);
    const auto acl = changed_acl(path, now.acl, change);
    if (!acl) return false;
    try {
      client.set_acl(path, *acl, now.stat.aversion, stop);
      return true;
    } catch (const ZkError& error) {
      if (error.code() != code::bad_version) throw;
    }
  }
}

}  // namespace zksh
