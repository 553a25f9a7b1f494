// top: show what the servers and their clients are doing, again and again.
#include "base/number.h"
#include "base/time.h"
#include "command/command.h"
#include "command/record.h"
#include "command/screen.h"
#include "ensemble/ensemble_load.h"
#include "ensemble/health.h"
#include "ensemble/server_command.h"
#include "node/node_json.h"

#include <algorithm>

namespace zksh::command_top {
namespace {

using namespace std::chrono_literals;

// Sessions and their ephemerals rarely change, and a dump may be long.
constexpr auto names_stay = 10s;

struct Args {
  std::vector<std::string> hosts;
  std::optional<std::string> interval;
  std::optional<std::int64_t> count;
  Patience patience{std::chrono::seconds(1)};
};

void declare(Options& o, Args& a) {
  declare_hosts(o, a.hosts);
  o.text("-i,--interval", a.interval, "The time between two looks (2s).", "time");
  o.number("-n,--count", a.count, "count", "End after this many times.");
  a.patience.declare(o);
}

/// Asks the servers again and again.
class Viewer {
 public:
  Viewer(Context& cx, const Args& a)
      : cx_(cx),
        asked_(servers_to_ask(cx, a.hosts)),
        interval_(a.interval ? parse_duration(*a.interval, "-i") : 2s),
        patience_(a.patience.time()) {
    if (interval_ < 100ms) throw ValueError("-i must be at least 100ms");
  }

  /// Waits until an interval has passed since the last look. Returns false early if the terminal's
  /// size is not `size` any more.
  bool await_turn(TerminalSize size) {
    const bool resized =
        cx_.monitor().wait_until(cx_.stop, looked_ + interval_,
                                 [&](const Monitor::Held&) { return !(terminal_size() == size); });
    if (cx_.stop.stop_requested()) throw Cancelled();
    return !resized;
  }

  /// Blocks until the servers have answered.
  EnsembleLoad look() {
    looked_ = Clock::now();
    const bool with_names =
        names_asked_ == Clock::time_point() || looked_ > names_asked_ + names_stay;
    auto words = LoadMeter::words();
    if (with_names) words.emplace_back("dump");
    auto members = ask_members(asked_, words, patience_, cx_.stop).members;
    if (with_names) {
      names_asked_ = looked_;
      std::vector<ServerAnswer> dumps;
      for (auto& member : members)
        if (!member.answers.empty()) dumps.push_back(member.answers.back());
      names_ = first_ephemerals(dumps);
    }
    // Says once what is missing, though the server answers.
    for (const auto& member : members) {
      if (member.answers.empty() || !read_health(member).problem.empty()) continue;
      for (std::size_t i = 1; i < words.size(); ++i) {
        const auto problem = no_answer(words[i], member.answers[i]);
        if (!problem || !reported_.insert(member.name() + words[i]).second) continue;
        cx_.out.err_line("{}: {}", cx_.out.shown_in_error(member.name()),
                         cx_.out.shown_in_error(*problem));
      }
    }
    return meter_.take(members, names_, Clock::now());
  }

 private:
  Context& cx_;
  ServersToAsk asked_;
  std::chrono::milliseconds interval_;
  std::chrono::milliseconds patience_;
  LoadMeter meter_;
  Clock::time_point looked_{};
  Clock::time_point names_asked_{};
  std::map<std::int64_t, std::string> names_;
  std::set<std::string> reported_;
};

/// A count per second; in JSON the count.
FieldValue rate(std::optional<std::int64_t> count, std::chrono::milliseconds interval) {
  if (!count || interval.count() <= 0) return {"-", Json()};
  return {fmt::format("{:.1f}",
                      static_cast<double>(*count) * 1000 / static_cast<double>(interval.count())),
          Json(*count)};
}

Record<ServerLoad> server_record(const EnsembleLoad& load) {
  using Server = const ServerLoad&;
  const auto interval = load.interval;
  const bool problems =
      std::ranges::any_of(load.servers, [](Server server) { return !server.problem.empty(); });
  const auto mean_ms = [](Server server) {
    return server.latency_us ? fmt::format("{:.1f}", static_cast<double>(*server.latency_us) / 1000)
                             : "";
  };
  return {
      {"server", &ServerLoad::name, {.title = "server"}},
      {"serverId", &ServerLoad::id, {.plain = false}},
      {"role", &ServerLoad::role, {.title = "role", .gives_way = 3}},
      {"requestCount",
       [interval](Server server) { return rate(server.requests, interval); },
       {.title = "requests/s", .right = true}},
      {{}, mean_ms, {.title = "mean ms", .right = true, .plain = false, .gives_way = 4}},
      {"meanLatencyUs", &ServerLoad::latency_us},
      {"connections", &ServerLoad::connections, {.title = "conns", .right = true, .gives_way = 2}},
      {"watchCount", &ServerLoad::watches, {.title = "watches", .right = true, .gives_way = 1}},
      {"problem",
       &ServerLoad::problem,
       {.title = problems ? "problem" : "", .least_width = problems ? 20U : 0U}},
  };
}

Record<ClientLoad> client_record(std::chrono::milliseconds interval) {
  using Client = const ClientLoad&;
  return {
      {"client", &ClientLoad::address, {.title = "client"}},
      {"requestCount",
       [interval](Client client) { return rate(client.requests, interval); },
       {.title = "requests/s", .right = true}},
      {"lastRequest", &ClientLoad::last_request, {.title = "last", .gives_way = 3}},
      {"session",
       [](Client client) { return session_text(client.session); },
       {.title = "session", .gives_way = 2}},
      {"server", &ClientLoad::server, {.title = "server", .gives_way = 1}},
      {"path", &ClientLoad::ephemeral, {.title = "ephemeral", .least_width = 20}},
  };
}

Record<NodeLoad> node_record(std::chrono::milliseconds interval) {
  using Node = const NodeLoad&;
  return {
      {"path", &NodeLoad::path, {.title = "below", .least_width = 20}},
      {"readCount",
       [interval](Node node) { return rate(node.reads, interval); },
       {.title = "reads/s", .right = true}},
      {"writeCount",
       [interval](Node node) { return rate(node.writes, interval); },
       {.title = "writes/s", .right = true}},
  };
}

/// Keeps the rows that fit, with the titles; nothing if only those fit.
std::vector<std::string> first_lines(std::vector<std::string> lines, std::size_t room) {
  if (room < 2 || lines.size() < 2) return {};
  if (lines.size() > room) lines.resize(room);
  return lines;
}

/// `room`: the number of lines, which are then cut to `columns`; 0: no limit. Clients get what
/// nodes do not need, and at least two thirds of what the servers leave.
std::vector<std::string> picture_of(const EnsembleLoad& load, std::size_t columns,
                                    std::size_t room) {
  const auto mark = cut_mark();
  const bool cut = room > 0;
  if (room == 0) room = load.servers.size() + load.clients.size() + load.nodes.size() + 5;
  auto lines = table_lines(server_record(load), load.servers, columns, mark);
  if (lines.size() > room) lines.resize(room);
  const auto append = [&](std::vector<std::string> more) {
    if (more.empty()) return;
    lines.emplace_back();
    std::ranges::move(more, std::back_inserter(lines));
  };
  const auto left = room - lines.size();
  const auto for_nodes = load.nodes.empty() ? 0 : std::min(load.nodes.size() + 2, left / 3);
  const auto for_clients = left - for_nodes;
  append(first_lines(table_lines(client_record(load.interval), load.clients, columns, mark),
                     for_clients - std::min<std::size_t>(for_clients, 1)));
  const auto rest = room - lines.size();
  append(first_lines(table_lines(node_record(load.interval), load.nodes, columns, mark),
                     rest - std::min<std::size_t>(rest, 1)));
  if (cut)
    for (auto& line : lines) line = cut_to_width(line, columns, mark);
  return lines;
}

void print(Context& cx, const EnsembleLoad& load, bool first) {
  const auto servers = server_record(load);
  const auto clients = client_record(load.interval);
  const auto nodes = node_record(load.interval);
  if (cx.out.json()) {
    print_json(cx, Json::object()
                       .set_time("time", wall_clock_now())
                       .set("intervalMs", load.interval.count())
                       .set("servers", rows_json(servers, load.servers))
                       .set("clients", rows_json(clients, load.clients))
                       .set("namespaces", rows_json(nodes, load.nodes)));
  } else if (cx.out.plain()) {
    print_rows(cx.out, "server\t", servers, load.servers);
    print_rows(cx.out, "client\t", clients, load.clients);
    print_rows(cx.out, "node\t", nodes, load.nodes);
  } else {
    if (!first) cx.out.line("");
    cx.out.lines(picture_of(load, result_columns(cx.out), 0));
  }
}

int status_of(const EnsembleLoad& load) {
  const auto silent = std::ranges::count_if(
      load.servers, [](const ServerLoad& server) { return !server.problem.empty(); });
  if (silent == std::ssize(load.servers)) return status::no_connection;
  return silent == 0 ? status::ok : status::failure;
}

int show(Context& cx, const Args& a) {
  Viewer viewer(cx, a);
  LivePicture picture(cx.out);
  const bool in_place = LivePicture::possible(cx.out, cx.background);
  cx.allow_move();
  for (std::int64_t number = 0;; ++number) {
    const auto load = viewer.look();
    const auto draw = [&] {
      const auto size = terminal_size();
      if (in_place && !cx.was_suspended())
        picture.draw(picture_of(load, size.columns, LivePicture::room()));
      return size;
    };
    auto size = draw();
    if (number > 0 && (!in_place || cx.was_suspended()))  // only then are there rates
      print(cx, load, number == 1);
    if (a.count && number >= *a.count) return status_of(load);
    while (!viewer.await_turn(size)) size = draw();
  }
}

int run(Context& cx, const Args& a) {
  if (a.count && *a.count < 1) throw ValueError("-n must be at least 1");
  return run_until_q(cx, [&] { return show(cx, a); });
}

}  // namespace

extern const Command top_command = make_command<Args>(
    {.name = "top",
     .group = "Servers",
     .summary = "Show what the servers and their clients are doing",
     .keywords = {"load", "busy", "requests", "clients", "monitor", "rate", "throughput"},
     .details =
         "Shows three tables, and shows them anew every two seconds, on a terminal in place, until "
         "q or Ctrl-C: the servers with their requests per second, the mean time of these, "
         "connections and watches; the clients, the busiest first, with their requests per second, "
         "the last of them, the session, its server, and its first ephemeral, which often has the "
         "client's name; and the nodes below / with the reads and writes per second of each and "
         "all below it (ZooKeeper 3.6 and later). A terminal shows as many as fit. The mean time "
         "is that since the server's start before 3.6. Counters that were reset, as by srst or a "
         "restart, start anew.\n\nEvery member is asked srvr, mntr and cons each time, and dump "
         "from time to time, or its AdminServer (see `help 4lw`); these questions count as "
         "requests, too. No session is needed.\n\n-o plain prints a line for each with tabs "
         "between the fields: server, name, role, requests per second, mean time in microseconds, "
         "connections, watches, problem; client, address, requests per second, last request, "
         "session, server, ephemeral; node, path, reads and writes per second. JSON has the counts "
         "of the interval instead.\n\nWith -n, the status is 1 if a server did not answer in the "
         "end, and 3 if none did.",
     .examples = {{"top -n 1 -i 1s", "Who is busy just now?"},
                  {"top -o json -n 1 -i 1s", "The same for scripts."}},
     .json = "time intervalMs servers clients namespaces",
     .json_fields = {{"clients", "list of ClientLoad", "The clients, the busiest first."},
                     {"intervalMs", "integer",
                      "The time in which the requests were counted, in milliseconds."},
                     {"namespaces", "list of NodeLoad", "The nodes below / that were used."},
                     {"servers", "list of ServerLoad", "The servers."}},
     .needs = Needs::Nothing},
    declare, run);
}  // namespace zksh::command_top
