// sandbox: show the private servers of --sandbox, or make them fail.
#include "sandbox/sandbox.h"

#include "command/command.h"
#include "command/record.h"

namespace zksh::command_sandbox {
namespace {

enum class Action { Stop, Start, Freeze, Thaw };
constexpr NamedValues<Action, 4> action_names{{{"stop", Action::Stop},
                                               {"start", Action::Start},
                                               {"freeze", Action::Freeze},
                                               {"thaw", Action::Thaw}}};

struct Args {
  std::optional<Action> action;
  std::optional<std::int32_t> server;
};

void declare(Options& o, Args& a) {
  o.choice("stop|start|freeze|thaw", a.action, action_names, "action",
           "What to do to a server; by default the servers are listed.");
  o.number("number", a.server, "number", "The server's number, as listed.");
}

using State = Sandbox::State;
constexpr NamedValues<State, 5> state_names{{{"serving", State::Serving},
                                             {"no-quorum", State::NoQuorum},
                                             {"starting", State::Starting},
                                             {"frozen", State::Frozen},
                                             {"stopped", State::Stopped}}};

Record<Sandbox::Server> server_record() {
  using Server = Sandbox::Server;
  const auto state = [](const Server& server) { return name_of(state_names, server.state); };
  return {
      {"serverId", &Server::number, {.title = "server"}},
      {"server", &Server::address, {.title = "address"}},
      {"state", state},
      // As wide as the longest, so that lists printed at different times line up.
      {{},
       [state](const Server& server) { return fmt::format("{:<9}", state(server)); },
       {.title = "state", .plain = false}},
      {"role", &Server::role, {.title = "role"}},
      {"dataDir", &Server::data},
  };
}

/// `places`: also where the data are, below the table: a column of paths would exceed 80 columns.
void show(Context& cx, const Sandbox& sandbox, bool places) {
  const auto servers = sandbox.status();
  if (!cx.out.text()) return print_rows(cx.out, "", server_record(), servers);
  cx.out.lines(table_lines(server_record(), servers, 0, ""));
  if (!places) return;
  cx.out.line("\ndata, for `txns --in` and `dump --in`:");
  for (const auto& server : servers) cx.out.line("{:<6}  {}", server.number, server.data);
}

void act(Context& cx, Sandbox& sandbox, Action action, int server) {
  switch (action) {
    case Action::Stop:
      return sandbox.stop(server);
    case Action::Start:
      return sandbox.start(server, cx.stop, [&] {
        cx.out.err_line("waiting until server {} serves: the servers elect a leader", server);
      });
    case Action::Freeze:
      return sandbox.freeze(server);
    case Action::Thaw:
      return sandbox.thaw(server);
  }
}

int run(Context& cx, const Args& a) {
  if (cx.services.sandbox == nullptr)
    throw Error("there is no sandbox here; start one with `zksh --sandbox` or `zksh --sandbox=3`");
  const int servers = cx.services.sandbox->size();
  if (a.action && !a.server && servers > 1)
    throw SyntaxError(
        fmt::format("{}: which server, 1 to {}?", name_of(action_names, *a.action), servers));
  if (a.action) act(cx, *cx.services.sandbox, *a.action, a.server.value_or(1));
  show(cx, *cx.services.sandbox, !a.action);
  return status::ok;
}

}  // namespace

extern const Command sandbox_command = make_command<Args>(
    {.name = "sandbox",
     .group = "Sandbox",
     .summary = "List the servers of --sandbox, or make one fail",
     .keywords = {"test", "server", "ensemble", "start", "restart"},
     .details =
         "'zksh --sandbox' starts a private server, 'zksh --sandbox=3' an ensemble of three, "
         "on\nlocal ports. The servers and their data are removed when zksh exits.\n\nstop kills a "
         "server, like a power failure; start restarts it with its data.\nfreeze suspends a "
         "server: its connections stay open, but nothing answers until thaw.\n\nA server is "
         "serving, no-quorum (running, but too few others are), starting, frozen\nor stopped. The "
         "list also says where each has its data.",
     .examples = {{"sandbox", "List the servers and their roles."},
                  {"sandbox stop 1", "Kill server 1."},
                  {"sandbox start 1", "Restart it."}},
     .json = "serverId server state role dataDir",
     .json_fields = {{"dataDir", "text", "The directory of its data."}},
     .needs = Needs::Nothing},
    declare, run);

}  // namespace zksh::command_sandbox
