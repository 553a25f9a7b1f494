// sandbox: show the private servers of --sandbox, or make them fail.
#include "sandbox/sandbox.h"

#include "command/command.h"
#include "node/node_json.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace zksh::command_sandbox {
namespace {

struct Args {
  std::optional<std::string> action;
  std::optional<std::int32_t> server;
};

void declare(Options& o, Args& a) {
  o.word_of("action", a.action, {"stop", "start", "freeze", "thaw"},
            "What to do to a server; by default the servers are listed.");
  o.number("number", a.server, "number", "The server's number, as listed.");
}

using State = Sandbox::State;
constexpr NamedValues<State, 5> state_names{{{"serving", State::Serving},
                                             {"no-quorum", State::NoQuorum},
                                             {"starting", State::Starting},
                                             {"frozen", State::Frozen},
                                             {"stopped", State::Stopped}}};

void show_json(Context& cx, const Sandbox& sandbox) {
  for (const Sandbox::Server& server : sandbox.status())
    print_json(cx, Json::object()
                       .set("serverId", server.number)
                       .set("server", server.address)
                       .set("state", name_of(state_names, server.state))
                       .set("role", Json::text_or_null(server.role)));
}

void show(Context& cx, const Sandbox& sandbox) {
  if (cx.out.json()) return show_json(cx, sandbox);
  std::vector<std::vector<std::string>> rows;
  if (!cx.out.plain()) rows.push_back({"server", "address", "state", "role"});
  for (const Sandbox::Server& server : sandbox.status()) {
    rows.push_back({std::to_string(server.number), server.address,
                    std::string(name_of(state_names, server.state)),
                    server.role.empty() ? "-" : server.role});
  }
  if (cx.out.plain()) {
    for (const auto& row : rows) cx.out.line("{}", fmt::join(row, "\t"));
    return;
  }
  std::size_t address_width = 0;
  for (const auto& row : rows) address_width = std::max(address_width, row[1].size());
  for (const auto& row : rows) {
    cx.out.line("{:<6}  {:<{}}  {:<9}  {}", row[0], row[1], address_width, row[2], row[3]);
  }
}

void act(Context& cx, Sandbox& sandbox, const std::string& action, int server) {
  if (action == "stop")
    sandbox.stop(server);
  else if (action == "start")
    sandbox.start(server, cx.stop);
  else if (action == "freeze")
    sandbox.freeze(server);
  else
    sandbox.thaw(server);
}

int run(Context& cx, const Args& a) {
  if (cx.services.sandbox == nullptr)
    throw Error("there is no sandbox here; start one with `zksh --sandbox` or `zksh --sandbox=3`");
  if (a.action && !a.server) throw SyntaxError(fmt::format("{}: which server?", *a.action));
  if (a.action) act(cx, *cx.services.sandbox, *a.action, *a.server);
  show(cx, *cx.services.sandbox);
  return status::ok;
}

}  // namespace

extern const Command sandbox_command = make_command<Args>(
    {.name = "sandbox",
     .group = "Sandbox",
     .summary = "List the servers of --sandbox, or make one fail",
     .keywords = {"test", "server", "ensemble"},
     .details =
         "'zksh --sandbox' starts a private server, 'zksh --sandbox=3' an ensemble of three, "
         "on\nlocal ports. The servers and their data are removed when zksh exits.\n\nstop kills a "
         "server, like a power failure; start restarts it with its data.\nfreeze suspends a "
         "server: its connections stay open, but nothing answers until thaw.\n\nA server is "
         "serving, no-quorum (running, but too few others are), starting, frozen\nor stopped.",
     .examples = {{"sandbox", "List the servers and their roles."},
                  {"sandbox stop 1", "Kill server 1."},
                  {"sandbox start 1", "Restart it."}},
     .json = "serverId server state role",
     .needs = Needs::Nothing,
     .strict = true},
    declare, run);

}  // namespace zksh::command_sandbox
