// status: show this shell's server, session, identity, watches and locks.
#include "base/mapped.h"
#include "base/number.h"
#include "base/time.h"
#include "client/client.h"
#include "client/persistent_watches.h"
#include "client/watch.h"
#include "command/command.h"
#include "command/current_node.h"
#include "command/job_table.h"
#include "lock/manager.h"
#include "lock/text.h"
#include "node/node_json.h"

#include <fmt/ranges.h>

#include <chrono>

namespace zksh::command_status {
namespace {

/// "/a, /b (lost)": the locks, with the state of those that are not held.
std::string locks_text(const OwnLocks& locks) {
  const auto texts = mapped(locks, [](const auto& lock) {
    const auto state = state_of(lock->status());
    return state == "holds" ? lock->name() : fmt::format("{} ({})", lock->name(), state);
  });
  return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
}

/// The watches that the user has set, one-shot or persistent.
struct ShownWatches {
  struct Watch {
    std::string path;
    std::string_view kind;
  };
  std::vector<Watch> all{};
  std::size_t others = 0;  ///< for commands, locks and completion
};

ShownWatches shown_watches(Context& cx) {
  const auto open = cx.client.open_watches(cx.services.watches.mailbox());
  ShownWatches watches{.others = open.others};
  for (const auto& [path, kind] : open.printed)
    watches.all.push_back({path, kind == WatchKind::OfChildren ? "children" : "data"});
  for (const auto& [path, mode] : cx.services.watches.all())
    watches.all.push_back({path, mode == WatchMode::Recursive ? "recursive" : "persistent"});
  return watches;
}

/// "2: /a (data), /b (children)"; only the number if there are many.
std::string watches_text(const ShownWatches& watches) {
  constexpr std::size_t few = 8;
  const auto names = mapped(watches.all, [](const ShownWatches::Watch& watch) {
    return fmt::format("{} ({})", watch.path, watch.kind);
  });
  if (names.empty()) return "none";
  if (names.size() > few) return std::to_string(names.size());
  return fmt::format("{}: {}", names.size(), fmt::join(names, ", "));
}

/// The connection as it was a moment ago.
struct Connection {
  std::string server;  ///< empty without a connection
  std::string state;
  std::string problem;
  std::optional<std::chrono::microseconds> latency;
};

Connection connection_now(Context& cx) {
  Connection now;
  // At the prompt, does not wait to report that there is no connection; elsewhere one may be about
  // to be made.
  if (cx.input != Input::Terminal && cx.client.current_state() == SessionState::Connecting)
    cx.client.await_connection("/", cx.stop);
  if (is_connected(cx.client.current_state())) {
    const auto begin = Clock::now();
    cx.client.exists("/", Watch::none(), cx.stop);
    now.latency = std::chrono::round<std::chrono::microseconds>(Clock::now() - begin);
  }
  const auto state = cx.client.current_state();
  if (is_connected(state)) now.server = cx.client.connected_server();
  now.state = state_name(state);
  if (state == SessionState::Connecting) now.problem = cx.client.connection_problem();
  return now;
}

std::size_t job_count(const Context& cx) {
  return cx.services.jobs ? cx.services.jobs->all().size() : 0;
}

Json status_json(Context& cx, const Connection& now) {
  const auto watches = shown_watches(cx);
  return Json::object()
      .set("server", cx.client.server())
      .set("connectedTo", Json::text_or_null(now.server))
      .set("state", now.state)
      .set("problem", Json::text_or_null(now.problem))
      .set("session", session_text(cx.client.session_id()))
      .set("timeout", cx.client.negotiated_timeout())
      .set("identities", identities_json(cx.client.identities()))
      .set("path", cx.current.path())
      .set("openWatches", Json::array(watches.all,
                                      [](const auto& watch) {
                                        return path_json(watch.path).set("kind", watch.kind);
                                      }))
      .set("otherWatches", watches.others)
      .set("locks",
           Json::array(cx.services.locks.locks(), [](const auto& lock) { return lock->name(); }))
      .set("jobs", job_count(cx))
      .set("latencyUs", now.latency ? Json(now.latency->count()) : Json());
}

void print_status(Context& cx, const Connection& now) {
  const auto line = [&](std::string_view name, const std::string& value) {
    cx.out.line("{:<10}{}", name, cx.out.shown(value.empty() ? "-" : value));
  };
  const int timeout = cx.client.negotiated_timeout();
  const auto jobs = job_count(cx);
  line("server", cx.client.server());
  line("state", now.problem.empty() ? now.state : fmt::format("{}: {}", now.state, now.problem));
  line("connected", now.server);
  line("session", session_text(cx.client.session_id()));
  line("timeout", timeout == 0 ? "" : short_time(std::chrono::milliseconds(timeout)));
  const auto names = mapped(cx.client.identities(), [](const Identity& identity) {
    return identity.scheme + ':' + user_of(identity);
  });
  line("identity", fmt::format("{}", fmt::join(names, ", ")));
  line("node", cx.current.path());
  line("watches", watches_text(shown_watches(cx)));
  line("locks", locks_text(cx.services.locks.locks()));
  line("jobs", jobs == 0 ? "none" : std::to_string(jobs));
  line("latency", now.latency ? short_time(*now.latency) : "");
}

int run(Context& cx) {
  const auto now = connection_now(cx);
  if (cx.out.json())
    print_json(cx, status_json(cx, now));
  else
    print_status(cx, now);
  return now.latency ? status::ok : status::no_connection;
}

}  // namespace

extern const Command status_command = make_command(
    {.name = "status",
     .group = "Session",
     .summary = "Show this shell's connection, session, watches and locks",
     .keywords = {"session", "info"},
     .details =
         "Shows the connect string, the connection state and the current server, the session with "
         "its negotiated timeout, its identities, the current node, the watches that are set (by "
         "name if there are few; always with -o json), the locks that this shell holds, waits for "
         "or has lost, its background jobs, and the latency of one request just now. Without a "
         "connection, it shows the reason at once, and the status is 3.",
     .examples = {{"status", "Where am I?"}},
     .json = "server connectedTo state problem session timeout identities path openWatches "
             "otherWatches locks jobs latencyUs",
     .json_fields =
         {{"connectedTo", "string?", "The server of this session, HOST:PORT."},
          {"jobs", "integer", "How many jobs run in the background."},
          {"latencyUs", "integer?", "The time of one request, in microseconds."},
          {"locks", "list of string", "The locks of this shell."},
          {"openWatches", "list of OpenWatch", "The watches that were set and have not fired."},
          {"otherWatches", "integer",
           "Watches that zksh itself needs: for locks, waiting commands and completion."}},
     .needs = Needs::Nothing},
    run);
}  // namespace zksh::command_status
