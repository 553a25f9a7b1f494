// connect: open a new session, with the same or other servers.
#include "command/command.h"
#include "command/current_node.h"
#include "lock/session_end.h"

namespace zksh::command_connect {
namespace {

struct Args {
  std::optional<std::string> server;
  bool force = false;
};

void declare(Options& o, Args& a) {
  o.flag("-f,--force", a.force, "End locks and jobs without asking.");
  o.text("host:port", a.server,
         "host[:port][,host[:port]…][/chroot]; by default the current servers.");
}

int run(Context& cx, const Args& a) {
  const auto server = a.server ? *a.server : cx.client.server();
  if (!may_end_session(cx, a.force)) return status::failure;
  const auto before_end = [&] { end_users_of_session(cx); };
  // The lines that follow are meant for the other servers: this session must not get them.
  if (cx.input == Input::Pipe) {
    before_end();
    cx.client.close();
  }
  cx.client.replace_session(server, before_end, cx.stop);
  if (a.server) cx.current.reset();  // the old path may not exist there
  return status::ok;
}

}  // namespace

extern const Command connect_command = make_command<Args>(
    {.name = "connect",
     .group = "Session",
     .summary = "Open a new session, with the same servers or others",
     .keywords = {"server", "reconnect", "session", "tls", "ssl", "sasl", "kerberos", "encryption"},
     .details = "Opens a new session, then closes the current one: its ephemeral nodes are "
                "removed, its watches and identities are gone, and jobs and programs under its "
                "locks are ended first: at a terminal it asks, and a script needs --force if it "
                "holds locks. If no session can be opened within --connect-timeout, the current "
                "one stays, except on piped input, which goes on without a session. The default "
                "port is 2181. TLS and SASL are chosen when zksh starts, by "
                "options or in its configuration: see zksh-security(7).",
     .examples = {{"connect", "Open a new session with the same servers."}},
     .zkcli_syntax = "host:port",
     .needs = Needs::Nothing,
     .allowed_in_transaction = true},
    declare, run);
}  // namespace zksh::command_connect
