// connect: open a new session, with the same or other servers.
#include "client/client.h"
#include "command/command.h"
#include "command/current_node.h"
#include "config/settings.h"
#include "lock/manager.h"

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

/// As zkCli does: the lines that follow are meant for the new servers, even while these do not
/// answer, and none of them may reach the old session. Says at once that there is no connection;
/// zkCli does not wait for one here.
void open_for_piped_lines(Context& cx, const std::string& server) {
  end_work_of_session(cx);
  cx.client.close();
  cx.client.open(server);
  if (cx.services.settings.drop_in) return;
  try {
    cx.client.await_connection("", cx.stop);
  } catch (const ZkError& error) {
    if (error.code() != code::connection_loss) throw;
    throw Error("no connection to " + cx.client.connection_problem(), status::no_connection);
  }
}

int run(Context& cx, const Args& a) {
  const auto server = a.server ? *a.server : cx.client.server();
  if (!may_end_session(cx, a.force)) return status::failure;
  const bool piped = cx.input == Input::Pipe;
  if (!piped)
    cx.client.replace_session(
        server, [&] { end_work_of_session(cx); }, cx.stop);
  if (a.server) cx.current.reset();  // the old path may not exist there
  if (piped) open_for_piped_lines(cx, server);
  return status::ok;
}

}  // namespace

extern const Command connect_command = make_command<Args>(
    {.name = "connect",
     .group = "Session",
     .summary = "Open a new session, with the same servers or others",
     .keywords = {"server", "reconnect", "session", "tls", "ssl", "sasl", "kerberos", "encryption",
                  "open", "use"},
     .details = "Opens a new session, then closes the current one: its ephemeral nodes are "
                "removed, its watches and identities are gone, and jobs and programs under its "
                "locks are ended first: at a terminal it asks, and a script needs --force if it "
                "holds locks. If no session can be opened within --connect-timeout, the current "
                "one stays, except on piped input, whose next lines try again. The default "
                "port is 2181. TLS and SASL are chosen when zksh starts, by "
                "options or in its configuration: see zksh-security(7).",
     .examples = {{"connect", "Open a new session with the same servers."}},
     .zkcli_syntax = "host:port",
     .needs = Needs::Nothing,
     .allowed_in_transaction = true},
    declare, run);
}  // namespace zksh::command_connect
