// status: show this shell's server, session, identity, watches and locks.
#include "base/number.h"
#include "client/persistent_watches.h"
#include "client/watch.h"
#include "command/command.h"
#include "command/current_node.h"
#include "command/job_table.h"
#include "lock/own_locks.h"
#include "node/node_json.h"

#include <fmt/ranges.h>

#include <chrono>

namespace zksh::command_status {
namespace {

/// "/a, /b (lost)": all but those that are held with their state.
std::string locks_text(const OwnLocks& locks) {
  std::vector<std::string> texts;
  texts.reserve(locks.size());
  for (const auto& lock : locks) {
    const auto state = state_of(lock->status());
    texts.push_back(state == "holds" ? lock->name() : fmt::format("{} ({})", lock->name(), state));
  }
  return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
}

std::vector<std::string> names_of(const std::vector<Identity>& identities) {
  std::vector<std::string> names;
  names.reserve(identities.size());
  for (const auto& identity : identities)
    names.push_back(identity.scheme + ':' + user_of(identity));
  return names;
}

/// The time from a request to its answer.
std::chrono::microseconds round_trip(Context& cx) {
  const auto begin = Clock::now();
  cx.client.exists("/", Watch::none(), cx.stop);
  return std::chrono::round<std::chrono::microseconds>(Clock::now() - begin);
}

/// A watch that the user has set, one-shot or persistent.
struct ShownWatch {
  std::string path;
  std::string_view kind;
};

std::vector<ShownWatch> shown_watches(const OpenWatches& open, const PersistentWatches& lasting) {
  std::vector<ShownWatch> all;
  for (const auto& [path, kind] : open.printed)
    all.push_back({path, kind == WatchKind::OfChildren ? "children" : "data"});
  for (const auto& [path, mode] : lasting.all())
    all.push_back({path, mode == WatchMode::Recursive ? "recursive" : "persistent"});
  return all;
}

/// "2: /a (data), /b (children)"; only the number if there are many.
std::string watches_text(const std::vector<ShownWatch>& watches, std::size_t others) {
  constexpr std::size_t few = 8;
  std::vector<std::string> names;
  names.reserve(watches.size());
  for (const auto& [path, kind] : watches) names.push_back(fmt::format("{} ({})", path, kind));
  auto text = names.empty() ? "none" : std::to_string(names.size());
  if (!names.empty() && names.size() <= few) text += fmt::format(": {}", fmt::join(names, ", "));
  if (others > 0) text += fmt::format("; {} more for commands, locks and completion", others);
  return text;
}

Json json_of(const std::vector<ShownWatch>& watches) {
  return Json::array(watches, [](const ShownWatch& watch) {
    return Json::object().set("path", watch.path).set("kind", watch.kind);
  });
}

/// At the prompt, does not wait to report that there is no connection; elsewhere one may be about
/// to be made.
bool reaches_server(Context& cx) {
  if (cx.input != Input::Terminal && cx.client.current_state() == SessionState::Connecting)
    cx.client.await_connection("/", cx.stop);
  return is_connected(cx.client.current_state());
}

struct Report {
  std::string server;
  std::string connected_to;  ///< empty without a connection
  std::string state;
  std::string problem;
  std::int64_t session = 0;
  int timeout = 0;
  std::vector<Identity> identities;
  std::string node;
  std::vector<ShownWatch> watches;
  std::size_t other_watches = 0;
  OwnLocks locks;
  std::size_t jobs = 0;
  std::optional<std::chrono::microseconds> latency;
};

Report look_around(Context& cx) {
  Report report;
  if (reaches_server(cx)) report.latency = round_trip(cx);
  auto& client = cx.client;
  const auto state = client.current_state();
  report.server = client.server();
  if (is_connected(state)) report.connected_to = client.connected_server();
  report.state = state_name(state);
  if (state == SessionState::Connecting) report.problem = client.connection_problem();
  report.session = client.session_id();
  report.timeout = client.negotiated_timeout();
  report.identities = client.identities();
  report.node = cx.current.path();
  const auto open = client.open_watches(cx.services.watches.mailbox());
  report.watches = shown_watches(open, cx.services.watches);
  report.other_watches = open.others;
  report.locks = cx.services.locks.locks();
  report.jobs = cx.services.jobs ? cx.services.jobs->all().size() : 0;
  return report;
}

Json json_of(const Report& report) {
  return Json::object()
      .set("server", report.server)
      .set("connectedTo", Json::text_or_null(report.connected_to))
      .set("state", report.state)
      .set("problem", Json::text_or_null(report.problem))
      .set("session", session_text(report.session))
      .set("timeout", report.timeout)
      .set("identities", identities_json(report.identities))
      .set("path", report.node)
      .set("openWatches", json_of(report.watches))
      .set("otherWatches", report.other_watches)
      .set("locks", Json::array(report.locks, [](const auto& lock) { return lock->name(); }))
      .set("jobs", report.jobs)
      .set("latencyUs", report.latency ? Json(report.latency->count()) : Json());
}

int run(Context& cx) {
  const auto report = look_around(cx);
  const int result = report.latency ? status::ok : status::no_connection;
  if (cx.out.json()) {
    print_json(cx, json_of(report));
    return result;
  }
  const auto line = [&](std::string_view name, const std::string& value) {
    cx.out.line("{:<10}{}", name, cx.out.shown(value.empty() ? "-" : value));
  };
  line("server", report.server);
  line("state",
       report.problem.empty() ? report.state : fmt::format("{}: {}", report.state, report.problem));
  line("connected", report.connected_to);
  line("session", session_text(report.session));
  line("timeout", report.timeout == 0 ? "" : fmt::format("{} ms", report.timeout));
  line("identity", fmt::format("{}", fmt::join(names_of(report.identities), ", ")));
  line("node", report.node);
  line("watches", watches_text(report.watches, report.other_watches));
  line("locks", locks_text(report.locks));
  line("jobs", report.jobs == 0 ? "none" : std::to_string(report.jobs));
  line("latency", report.latency ? fmt::format("{:.1f} ms",
                                               static_cast<double>(report.latency->count()) / 1000)
                                 : "");
  return result;
}

}  // namespace

extern const Command status_command = make_command(
    {.name = "status",
     .group = "Session",
     .summary = "Show this shell's connection, session, watches and locks",
     .details =
         "Shows the connect string, the connection state and the current server, the session with "
         "its negotiated timeout, its identities, the current node, the watches that are set (by "
         "name if there are few; always with -o json), the locks that this shell holds, waits for "
         "or has lost, its background jobs, and the latency of one request just now. Without a "
         "connection, it shows the reason at once, and the status is 3.",
     .examples = {{"status", "Where am I?"}},
     .json = "server connectedTo state problem session timeout identities path openWatches "
             "otherWatches locks jobs latencyUs",
     .needs = Needs::Nothing},
    run);
}  // namespace zksh::command_status
