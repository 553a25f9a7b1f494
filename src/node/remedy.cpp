// Remedy: says at the prompt what an error of a node means, and what to do about it.
#include "node/remedy.h"

#include "base/text.h"
#include "base/words.h"
#include "client/acl_text.h"
#include "client/client.h"
#include "client/node_path.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

namespace zksh {
namespace {

bool is_met_by(const AclEntry& entry, const Identity& identity) {
  if (entry.scheme != identity.scheme) return false;
  if (entry.scheme == "ip") return is_in_network(identity.id, entry.id);
  return entry.scheme != "digest" || entry.id == identity.id;
}

/// What the requests of a command need, in their order: c and d on the parent, the others on the
/// node itself.
std::string_view needs_of(std::string_view command) {
  using Need = std::pair<std::string_view, std::string_view>;
  static constexpr auto needs = std::to_array<Need>({{"apply", "rcwad"},
                                                     {"cp", "rc"},
                                                     {"create", "c"},
                                                     {"delete", "d"},
                                                     {"deleteall", "rd"},
                                                     {"edit", "rwc"},
                                                     {"fill", "c"},
                                                     {"find", "rd"},
                                                     {"import", "rcw"},
                                                     {"incr", "rwc"},
                                                     {"multi", "cdwa"},
                                                     {"mv", "rcd"},
                                                     {"set", "w"},
                                                     {"setAcl", "a"},
                                                     {"touch", "wc"}});
  const auto* const found = std::ranges::find(needs, command, &Need::first);
  return found == needs.end() ? "r" : found->second;
}

/// What to do about it: "digest:bob has; `addauth` adds an identity". Not the whole command, which
/// the masking of secrets would take for one with a password.
std::string remedy(const Acl& acl, int right) {
  std::vector<std::string> owners;
  for (const auto& entry : acl) {
    if ((entry.perms & right) == 0) continue;
    owners.push_back(escape_for_terminal(entry.scheme + ':' + user_of(entry)));
  }
  if (owners.empty()) return "nobody has; a superuser may do it";
  return fmt::format("{} {}; `addauth` adds an identity", fmt::join(owners, ", "),
                     owners.size() == 1 ? "has" : "have");
}

/// Names the right that is missing.
std::string missing_right(Client& client, const std::string& path, std::string_view command,
                          const std::stop_token& stop) {
  const auto own = client.identities();
  const std::string parent(parent_path(path));
  std::map<std::string, Outcome<NodeAcl>> acls;
  for (const char letter : needs_of(command)) {
    const auto& node = letter == 'c' || letter == 'd' ? parent : path;
    if (!acls.contains(node)) acls[node] = client.await(client.start_get_acl(node), stop);
    const auto& [code, found, culprit] = acls[node];
    const auto shown = escape_for_terminal(as_word(node));
    const auto right = *perms_of({&letter, 1});
    if (code == code::no_auth)
      return fmt::format(
          " (it needs {} on {}, whose ACL this session may not read; `addauth` adds an identity)",
          letter, shown);
    if (code == code::ok && (perms_given(own, found.acl) & right) == 0)
      return fmt::format(" (it needs {} on {}, which {})", letter, shown, remedy(found.acl, right));
  }
  return " (`getAcl` shows who has it; `addauth` adds an identity)";
}

/// Says what the version is now.
std::string present_version(Client& client, const std::string& path, std::string_view command,
                            const std::stop_token& stop) {
  const auto now = client.await(client.start_exists(path, Watch::none()), stop);
  if (now.code != code::ok) return {};
  return command == "setAcl" ? fmt::format(" (the aclVersion is {})", now.value.aversion)
                             : fmt::format(" (the version is {})", now.value.version);
}

}  // namespace

int perms_given(const std::vector<Identity>& identities, const Acl& acl) {
  int given = 0;
  for (const auto& entry : acl)
    if (entry.scheme == "world" || entry.scheme == "auth" ||
        std::ranges::any_of(identities, [&](const Identity& own) { return is_met_by(entry, own); }))
      given |= entry.perms;
  return given;
}

ZkError with_remedy(Client& client, const ZkError& error, std::string_view command,
                    const std::stop_token& stop) {
  const auto& path = error.path();
  if (!path.starts_with('/') || error.what() != error_text(error.code(), path)) return error;
  if (error.code() == code::no_auth) return {error, missing_right(client, path, command, stop)};
  if (error.code() == code::bad_version)
    return {error, present_version(client, path, command, stop)};
  if (error.code() == code::not_empty && command == "delete")
    return {error, " (`deleteall` deletes the nodes below it, too)"};
  if (error.code() == code::no_node && command == "set" && path != "/")
    return {error, " (`create` creates it)"};
  return error;
}

}  // namespace zksh
