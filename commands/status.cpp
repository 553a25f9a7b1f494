// status: say where this shell is: its server, session, identity and locks.
#include "base/number.h"
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

int run(Context& cx, const Args& /*a*/) {
  cx.client.await_connection("/", cx.stop);
  const auto latency = round_trip(cx);
  const auto locks = lock_names(cx.locks);
  const auto identities = identity_names(cx.client);
  const auto jobs = cx.jobs ? cx.jobs->all().size() : 0;
  if (cx.out.json()) {
    auto json = Json::object();
    json.set("server", cx.client.server());
    json.set("session", session_text(cx.client.session_id()));
    json.set("timeout", cx.client.negotiated_timeout());
    json.set("identities", array_of(identities));
    json.set("path", cx.current.path());
    json.set("locks", array_of(locks));
    json.set("jobs", jobs);
    json.set("latency_us", latency.count());
    print_json(cx, json);
    return status::ok;
  }
  const auto line = [&](std::string_view name, const std::string& value) {
    cx.out.line("{:<10}{}", name, cx.out.shown(value));
  };
  line("server", cx.client.server());
  line("session", session_text(cx.client.session_id()));
  line("timeout", fmt::format("{} ms", cx.client.negotiated_timeout()));
  line("identity", fmt::format("{}", fmt::join(identities, ", ")));
  line("node", cx.current.path());
  line("locks", locks.empty() ? "none" : fmt::format("{}", fmt::join(locks, ", ")));
  line("jobs", jobs == 0 ? "none" : std::to_string(jobs));
  line("latency", fmt::format("{:.1f} ms", static_cast<double>(latency.count()) / 1000));
  return status::ok;
}

}  // namespace

extern const Command status_command = make_command<Args>(
    {.name = "status",
     .group = "Session",
     .summary = "Say where this shell is: server, session, locks",
     .details = "The connect string, the session and the timeout that the servers granted it, who "
                "the session is to them, the current node, the locks of this shell and those that "
                "it waits for, its jobs in the background, and how long one request took just now.",
     .examples = {{"status", "Where am I?"}}},
    declare, run);
}  // namespace zksh::command_status
