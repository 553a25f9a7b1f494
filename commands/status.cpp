// status: say where this shell is: its server, session, identity and locks.
#include "base/number.h"
#include "client/state_name.h"
#include "command/command.h"
#include "command/current_node.h"
#include "command/job_table.h"
#include "lock/lock_manager.h"
#include "node/node_json.h"

#include <fmt/ranges.h>

#include <chrono>
#include <utility>

namespace zksh::command_status {
namespace {

struct Args {};

void declare(Options& /*o*/, Args& /*a*/) {}

std::vector<std::string> lock_names(const LockManager& locks) {
  std::vector<std::string> names;
  for (const auto& lock : locks.locks()) names.push_back(lock->name());
  return names;
}

std::vector<std::string> identity_names(Client& client) {
  std::vector<std::string> names;
  for (const auto& identity : client.identities())
    names.push_back(identity.scheme + ':' + identity.id.substr(0, identity.id.find(':')));
  return names;
}

/// From a request to its answer.
std::chrono::microseconds round_trip(Context& cx) {
  const auto begin = Clock::now();
  cx.client.exists("/", Watch::none(), cx.stop);
  return std::chrono::round<std::chrono::microseconds>(Clock::now() - begin);
}

Json array_of(const std::vector<std::string>& texts) {
  auto list = Json::array();
  for (const auto& text : texts) list.add(text);
  return list;
}

/// At the prompt nobody waits to be told that there is no connection; elsewhere one may be on its
/// way.
bool reaches_server(Context& cx) {
  if (cx.input != Input::Terminal && cx.client.current_state() == SessionState::Connecting)
    cx.client.await_connection("/", cx.stop);
  return is_connected(cx.client.current_state());
}

int run(Context& cx, const Args& /*a*/) {
  const bool connected = reaches_server(cx);
  std::optional<std::chrono::microseconds> latency;
  if (connected) latency = round_trip(cx);
  const auto now = cx.client.current_state();
  const std::string state(state_name(now));
  const auto problem =
      now == SessionState::Connecting ? cx.client.connection_problem() : std::string();
  const auto locks = lock_names(cx.locks);
  const auto identities = identity_names(cx.client);
  const auto jobs = cx.jobs ? cx.jobs->all().size() : 0;
  if (cx.out.json()) {
    auto json = Json::object();
    json.set("server", cx.client.server());
    json.set("state", state);
    json.set("problem", problem.empty() ? Json() : Json(problem));
    json.set("session", session_text(cx.client.session_id()));
    json.set("timeout", cx.client.negotiated_timeout());
    json.set("identities", array_of(identities));
    json.set("path", cx.current.path());
    json.set("locks", array_of(locks));
    json.set("jobs", jobs);
    json.set("latency_us", latency ? Json(latency->count()) : Json());
    print_json(cx, json);
    return connected ? status::ok : status::no_connection;
  }
  const auto line = [&](std::string_view name, const std::string& value) {
    cx.out.line("{:<10}{}", name, cx.out.shown(value));
  };
  line("server", cx.client.server());
  line("state", problem.empty() ? state : fmt::format("{}: {}", state, problem));
  line("session", session_text(cx.client.session_id()));
  const auto timeout = cx.client.negotiated_timeout();
  line("timeout", timeout == 0 ? "-" : fmt::format("{} ms", timeout));
  line("identity", identities.empty() ? "-" : fmt::format("{}", fmt::join(identities, ", ")));
  line("node", cx.current.path());
  line("locks", locks.empty() ? "none" : fmt::format("{}", fmt::join(locks, ", ")));
  line("jobs", jobs == 0 ? "none" : std::to_string(jobs));
  line("latency",
       latency ? fmt::format("{:.1f} ms", static_cast<double>(latency->count()) / 1000) : "-");
  return connected ? status::ok : status::no_connection;
}

}  // namespace

extern const Command status_command = make_command<Args>(
    {.name = "status",
     .group = "Session",
     .summary = "Say where this shell is: server, session, locks",
     .details = "The connect string, the state of the connection, the session and the timeout that "
                "the servers granted it, who "
                "the session is to them, the current node, the locks of this shell and those that "
                "it waits for, its jobs in the background, and how long one request took just now. "
                "Without a connection it says at the prompt why, does not wait for one, and the "
                "status is 3.",
     .examples = {{"status", "Where am I?"}},
     .needs = Needs::Nothing},
    declare, run);
}  // namespace zksh::command_status
