// ACL argument: the ACLs that users give, and changes of one.
#include "node/acl_argument.h"

#include "base/digest.h"
#include "client/acl_text.h"
#include "client/client.h"
#include "client/zk_error.h"
#include "node/remedy.h"
#include "node/value.h"

#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace zksh {
namespace {

bool is_named_by(const AclEntry& entry, const std::string& text) {
  const auto id = entry.scheme + ':' + entry.id;
  const auto user = entry.scheme + ':' + user_of(entry);
  const auto perms = ':' + perm_letters(entry.perms);
  const std::array names{id, user, id + perms, user + perms};
  return std::ranges::find(names, text) != names.end();
}

/// With zkCli's text: the Java client does not send one.
void refuse_empty(const Acl& acl) {
  if (acl.empty()) throw ZkError(code::invalid_acl, "null");
}

/// Whether the server knows that the session may change it: as the superuser, or by a scheme such
/// as x509, whose ids only servers know.
bool may_be_changed_by_server(Client& client, const Acl& acl, const std::stop_token& stop) {
  client.learn_server("", stop);
  auto said = client.await(client.start_who_am_i(), stop).value;
  if (std::ranges::count(said, "super", &Identity::scheme) > 0) return true;
  // Behind NAT, servers see another address of the session. They do not show hashes.
  std::erase_if(said, [](const Identity& one) { return one.scheme == "digest"; });
  return (perms_given(said, acl) & perm::admin) != 0;
}

}  // namespace

bool may_be_changed(const Acl& acl) {
  return std::ranges::any_of(acl, [](const AclEntry& entry) {
    return (entry.perms & perm::admin) != 0 && !acl_flaw(entry);
  });
}

std::string sealed_text(const std::string& path) {
  return fmt::format(
      "nobody could change the ACL of {} any more, since no entry would have the permission a",
      path);
}

void refuse_sealed(const Context& cx, const Acl& acl, const std::string& path, bool force) {
  refuse_empty(acl);
  if (force || cx.input == Input::Pipe || may_be_changed(acl)) return;
  throw UnchangeableAcl(sealed_text(path) + "; nothing was written (--force does it)");
}

void refuse_lockout(Context& cx, const Acl& acl, const std::string& path, bool force) {
  refuse_empty(acl);
  if (force || cx.input == Input::Pipe) return;
  const bool known = (perms_given({}, acl) & perm::admin) != 0;
  if (!known) cx.client.await_connection(path, cx.stop);
  if (known || (perms_given(cx.client.identities(), acl) & perm::admin) != 0) return;
  if (!cx.client.exists(path, Watch::none(), cx.stop)) throw ZkError(code::no_node, path);
  refuse_sealed(cx, acl, path, force);
  if (may_be_changed_by_server(cx.client, acl, cx.stop)) return;
  throw UnchangeableAcl(fmt::format(
      "this session could not change the ACL of {} any more, since no entry with the permission a "
      "names one of its identities (`whoami`); nothing was written (--force does it)",
      path));
}

bool hides_hash(const Acl& acl) {
  return std::ranges::any_of(acl, [](const AclEntry& entry) {
    return entry.scheme == "digest" && entry.id.ends_with(":x");
  });
}

void declare_force_acl(Options& options, bool& force) {
  options.common().flag("--force", force,
                        "Accept an ACL that nobody could change any more, or with an entry that "
                        "nobody can ever meet.");
}

std::string asked_password(Context& cx, const std::string& user) {
  if (!cx.can_ask())
    throw UsageError(fmt::format(
        "there is no terminal to ask for the password of {}; @FILE in its place reads it", user));
  const auto password = cx.ask(fmt::format("New password of {}: ", user), true);
  if (!password || password->empty()) throw Cancelled("nothing was written");
  // A typing error would lock everybody out, unnoticed.
  if (cx.ask("The same again: ", true) != password)
    throw Error("the two passwords differ; nothing was written");
  return *password;
}

std::string digest_of_password(Context& cx, const std::string& user, const std::string& from) {
  if (user.empty()) throw UsageError("the user is empty");
  auto password = from.empty() ? asked_password(cx, user) : value_of(cx, from);
  if (!from.empty() && password.ends_with('\n')) password.pop_back();
  if (password.empty()) throw UsageError(fmt::format("the password of {} is empty", user));
  return digest_id(user + ':' + password);
}

Acl acl_argument(Context& cx, const std::string& text, const std::string& path, bool force) {
  auto parsed = parse_acl(text);
  // The remaining entries might lock everybody out of the node, even its owner.
  if (cx.input != Input::Pipe && !parsed.complaints.empty())
    throw ZkError(ZkError(code::invalid_acl, cx.resolve(path, true)),
                  fmt::format(": {}{}{}; nothing was written (an entry is scheme:id:perms; perms "
                              "are letters of cdrwa)",
                              fmt::join(parsed.complaints, "; "),
                              parsed.misspelt.empty() ? "" : "; unknown letters in ",
                              fmt::join(parsed.misspelt, ", ")));
  for (const auto& complaint : parsed.complaints)
    cx.out.err_line("{}", cx.out.shown_in_error(complaint));
  if (cx.input == Input::Pipe) return std::move(parsed.acl);
  for (auto& entry : parsed.acl) {
    const auto colon = entry.id.find(':');
    if (entry.scheme != "digest" || colon == std::string::npos) continue;
    const auto password = entry.id.substr(colon + 1);
    if (password.empty() || password.starts_with('@'))
      entry.id = digest_of_password(cx, entry.id.substr(0, colon), password);
  }
  if (force) return std::move(parsed.acl);
  for (const auto& entry : parsed.acl)
    if (const auto flaw = acl_flaw(entry))
      throw ValueError(fmt::format("{}; nothing was written (--force sets it nevertheless)", *flaw),
                       cx.resolve(path, true));
  return std::move(parsed.acl);
}

ZkError explained_acl(const Context& cx, const ZkError& error, const Acl& acl) {
  constexpr std::array<std::string_view, 4> usual{"world", "ip", "digest", "auth"};
  if (error.code() != code::invalid_acl || cx.input == Input::Pipe) return error;
  for (const auto& [perms, scheme, id] : acl) {
    if (std::ranges::find(usual, scheme) == usual.end())
      return {error, fmt::format(": the servers do not accept the scheme {}, or this id of it; all "
                                 "know world, ip, digest and auth",
                                 scheme)};
    if (scheme == "world" && id != "anyone")
      return {error, fmt::format(": the only id of world is anyone, not \"{}\"", id)};
    if (scheme == "auth")
      return {error,
              ": auth stands for the identities of this session, which has none; `addauth` "
              "adds one"};
  }
  return error;
}

std::optional<Acl> changed_acl(const std::string& path, const Acl& acl, const AclChange& change) {
  if (hides_hash(acl))
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
    throw UnchangeableAcl(sealed_text(path) + "; nothing was written (--force does it)");
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
