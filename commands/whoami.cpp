// whoami: show this session's identities.
#include "base/java.h"
#include "client/client.h"
#include "command/command.h"
#include "node/node_json.h"

namespace zksh::command_whoami {
namespace {

/// What the server says. It names users without the hashes of their passwords, which ACLs need.
std::vector<Identity> with_hashes(std::vector<Identity> said, std::vector<Identity> known) {
  for (auto& identity : said) {
    const auto same = std::ranges::find_if(known, [&](const Identity& one) {
      return one.scheme == "digest" && one.scheme == identity.scheme && user_of(one) == identity.id;
    });
    if (same == known.end()) continue;
    identity = *same;
    known.erase(same);
  }
  return said;
}

void print(Context& cx, const std::vector<Identity>& identities) {
  if (cx.out.json())
    return print_json(cx, Json::object().set("identities", identities_json(identities)));
  if (!cx.out.plain()) cx.out.line("Auth scheme: User");
  for (const auto& identity : identities)
    cx.out.line("{}:{}{}", cx.out.shown(identity.scheme), cx.out.plain() ? "" : " ",
                cx.out.shown(user_of(identity)));
}

int run(Context& cx) {
  try {
    cx.client.await_connection("", cx.stop);
  } catch (const ZkError& error) {
    const bool unasked = error.code() == code::connection_loss || error.code() == code::auth_failed;
    if (!unasked || cx.input != Input::Pipe) throw;
    print(cx, {});
    return cx.excused(error.exit_status());
  }
  cx.client.learn_server("", cx.stop);
  const auto asked = cx.client.await(cx.client.start_who_am_i(), cx.stop);
  auto known = cx.client.identities();
  // Servers keep identities in a hash table, and zkCli prints them in its order.
  sort_as_java_map(known, [](const Identity& identity) {  // Id.hashCode
    return (17 * 37 + java_hash(identity.scheme)) * 37 + java_hash(identity.id);
  });
  print(cx, asked.code == code::ok ? with_hashes(asked.value, known) : known);
  return status::ok;
}

}  // namespace

extern const Command whoami_command = make_command(
    {.name = "whoami",
     .group = "Access",
     .summary = "Show the identities of this session",
     .keywords = {"auth", "login", "identity", "user"},
     .details =
         "Shows what the server (ZooKeeper 3.7 or later) says: the session's address and the "
         "identities that addauth has added. Of an older server, or one that does not say its "
         "version (srvr), zksh shows what it remembers: behind NAT the address is the local one, "
         "a superuser is not shown as such, and a Kerberos principal is shown with its realm, "
         "which servers may be configured to drop.",
     .examples = {{"whoami", "Who am I?"}},
     .json = "identities",
     .zkcli_syntax = "",
     .optionless = true},
    run);
}  // namespace zksh::command_whoami
