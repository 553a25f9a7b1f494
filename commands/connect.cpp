// connect: open a new session, with the same servers or others.
#include "client/connect_string.h"
#include "command/command.h"
#include "command/current_node.h"
#include "command/transaction.h"
#include "lock/lock_table.h"

namespace zksh {
namespace {

struct Args {
  std::optional<std::string> server;
};

void declare(Options& o, Args& a) {
  o.text("host:port", a.server,
         "host[:port][,host[:port]…][/chroot]; without it the servers in use.");
}

int run(Context& cx, const Args& a) {
  if (const auto dropped = cx.transaction.drop()) cx.out.err_line("{}", dropped_text(*dropped));
  const auto server = a.server ? *a.server : cx.client.server();
  parse_connect_string(server);  // says what is wrong with it, before anything ends
  cx.locks.end_programs(cx.stop);
  cx.client.open(server);
  if (a.server) cx.current.reset();  // the old path may mean nothing there
  return status::ok;
}

}  // namespace

extern const Command connect_command = make_command<Args>(
    {.name = "connect",
     .group = "Session",
     .summary = "Open a new session, with the same servers or others",
     .details =
         "Closes the session in use: its ephemerals go, its watches and credentials are forgotten, "
         "programs under its locks are ended first. Does not wait for the connection; the next "
         "command does. The port is 2181 when left out.",
     .examples = {{"connect", "A new session with the same servers."}},
     .zkcli_syntax = "host:port",
     .needs = Needs::Nothing,
     .beside_transaction = true},
    declare, run);
}  // namespace zksh
