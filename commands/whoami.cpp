// whoami: show this session's identities.
#include "base/java.h"
#include "command/command.h"
#include "node/node_json.h"

namespace zksh::command_whoami {
namespace {

/// Id.hashCode: servers keep identities in a hash table, and zkCli prints them in its order.
std::uint32_t hash_of(const Identity& identity) {
  return (17 * 37 + java_hash(identity.scheme)) * 37 + java_hash(identity.id);
}

void print(Context& cx, std::vector<Identity> identities) {
  sort_as_java_map(identities, hash_of);
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
    if (error.code() != code::connection_loss || cx.input != Input::Pipe) throw;
    print(cx, {});
    return error.exit_status();
  }
  print(cx, cx.client.identities());
  return status::ok;
}

}  // namespace

extern const Command whoami_command = make_command(
    {.name = "whoami",
     .group = "Access",
     .summary = "Show the identities of this session",
     .keywords = {"login", "identity", "user"},
     .details =
         "Shows the session's address and the identities that addauth has added. The C "
         "client cannot ask the server (whoAmI), so zksh shows what it remembers: behind "
         "NAT the address is the local one, a superuser is not shown as such, and a Kerberos "
         "principal is shown with its realm, which servers may be configured to drop.",
     .examples = {{"whoami", "Who am I?"}},
     .json = "identities",
     .zkcli_syntax = "",
     .optionless = true},
    run);
}  // namespace zksh::command_whoami
