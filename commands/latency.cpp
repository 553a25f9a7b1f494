// latency: measure round trips of requests to each server.
#include "ensemble/latency.h"

#include "base/mapped.h"
#include "base/time.h"
#include "client/client.h"
#include "command/command.h"
#include "command/dry_run.h"
#include "command/record.h"
#include "command/screen.h"
#include "config/settings.h"
#include "ensemble/health.h"
#include "ensemble/server_command.h"
#include "node/node_json.h"

#include <algorithm>

namespace zksh::command_latency {
namespace {

struct Args {
  std::vector<std::string> hosts;
  std::optional<std::int64_t> count;
  bool write = false;
  std::optional<std::string> path;
  bool dry_run = false;
  Patience patience{std::chrono::seconds(2)};
};

void declare(Options& o, Args& a) {
  declare_hosts(o, a.hosts);
  o.number("-n,--count", a.count, "count", "Number of requests of each kind (100).");
  o.flag("-w,--write", a.write,
         "Measure writes, too, on an ephemeral node that is removed at the end.");
  o.text("--path", a.path, "The parent of the node that --write creates (/).", "path");
  o.common().flag("--dry-run", a.dry_run, "Show what would be written, and measure nothing.");
  a.patience.declare(o);
}

constexpr std::int64_t most_rounds = 1'000'000;
constexpr std::size_t buckets = 24;

LatencyPlan plan_of(const Context& cx, const Args& a) {
  LatencyPlan plan;
  const auto count = a.count.value_or(100);
  if (count < 1 || count > most_rounds)
    throw ValueError(fmt::format("-n must be from 1 to {1}, not {0}", count, most_rounds));
  plan.rounds = static_cast<std::size_t>(count);
  plan.chroot = parse_connect_string(cx.client.server()).chroot;
  plan.write = a.write;
  if (a.path && !a.write) throw UsageError("--path needs --write");
  if (a.path) plan.parent = cx.resolve(*a.path);
  plan.patience = a.patience.time();
  if (a.write && !a.dry_run && cx.services.protection.read_only)
    throw Error("latency --write refused: this zksh is read-only", status::read_only);
  return plan;
}

/// The members, and whether each answers.
std::vector<MemberLatency> members_of(Context& cx, const Args& a, const LatencyPlan& plan) {
  const auto all = ask_members(servers_to_ask(cx, a.hosts), health_words(), plan.patience, cx.stop);
  return mapped(all.members, [](const MemberAnswers& member) {
    const auto health = read_health(member);
    MemberLatency latency{.address = member.address, .name = health.name, .id = health.id};
    latency.role = health.role;
    if (!health.asked)
      latency.problem = "its client address is not known";
    else if (!health.answers || is_not_serving(member.answers.front().text))
      latency.problem = health.problem;
    return latency;
  });
}

/// The answered requests of one kind at one server.
struct Row {
  const MemberLatency& member;
  const ProbeTimes& probe;
  Spread spread;
};

std::vector<Row> rows_of(const std::vector<MemberLatency>& members) {
  std::vector<Row> rows;
  for (const auto& member : members)
    for (const auto& probe : member.probes)
      if (!probe.times.empty()) rows.push_back({member, probe, spread_of(probe.times)});
  return rows;
}

std::optional<Histogram> histogram_of(const std::vector<Row>& rows) {
  using namespace std::chrono_literals;
  if (rows.empty()) return std::nullopt;
  auto shortest = std::chrono::nanoseconds::max();
  auto longest = std::chrono::nanoseconds::min();
  for (const auto& row : rows) {
    shortest = std::min(shortest, std::ranges::min(row.probe.times));
    longest = std::max(longest, row.spread.longest);
  }
  return Histogram(std::max<std::chrono::nanoseconds>(shortest, 1us),
                   std::max<std::chrono::nanoseconds>(longest, 1us), buckets);
}

std::int64_t microseconds(std::chrono::nanoseconds time) {
  return std::chrono::round<std::chrono::microseconds>(time).count();
}

/// `histogram`: drawn in the table.
Record<Row> row_record(const std::optional<Histogram>& histogram) {
  Record<Row> record{
      {{}, [](const Row& row) { return row.member.name; }, {.title = "server"}},
      {{}, [](const Row& row) { return row.member.role; }, {.title = "role", .gives_way = 2}},
      {{},
       [](const Row& row) { return name_of(probe_names, row.probe.probe); },
       {.title = "request"}},
      {{},
       [](const Row& row) { return row.spread.count; },
       {.title = "count", .right = true, .gives_way = 1}}};
  for (const auto& [title, time] :
       {std::pair("p50", &Spread::median), {"p99", &Spread::p99}, {"max", &Spread::longest}}) {
    record.push_back({{},
                      [time = time](const Row& row) { return short_time(row.spread.*time); },
                      {.title = title, .right = true, .plain = false}});
    record.push_back(
        {{}, [time = time](const Row& row) { return microseconds(row.spread.*time); }});
  }
  if (!histogram) return record;
  const auto from = short_time(histogram->bound(0));
  record.push_back({{},
                    [histogram](const Row& row) {
                      return bars(histogram->count(row.probe.times), !terminal_shows_utf8());
                    },
                    {.title = fmt::format("{}{:>{}}", from, short_time(histogram->bound(buckets)),
                                          buckets - std::min(buckets, from.size())),
                     .plain = false,
                     .gives_way = 3,
                     .least_width = buckets}});
  return record;
}

void print_rows(Context& cx, const std::vector<Row>& rows) {
  const auto record =
      row_record(cx.out.style().out_is_terminal ? histogram_of(rows) : std::nullopt);
  if (cx.out.plain())
    zksh::print_rows(cx.out, "", record, rows);
  else if (!rows.empty())
    cx.out.lines(table_lines(record, rows, result_columns(cx.out), ""));
}

Json probe_json(const ProbeTimes& probe, const std::optional<Histogram>& histogram) {
  const auto spread = spread_of(probe.times);
  const auto time = [&](std::chrono::nanoseconds value) {
    return spread.count > 0 ? Json(microseconds(value)) : Json();
  };
  auto columns = Json::array();
  const auto counts = histogram ? histogram->count(probe.times) : std::vector<std::size_t>();
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0)
      columns.add(Json::object()
                      .set("fromUs", microseconds(histogram->bound(i)))
                      .set("toUs", microseconds(histogram->bound(i + 1)))
                      .set("count", counts[i]));
  return Json::object()
      .set("request", name_of(probe_names, probe.probe))
      .set("count", spread.count)
      .set("minUs", spread.count > 0 ? Json(microseconds(std::ranges::min(probe.times))) : Json())
      .set("p50Us", time(spread.median))
      .set("p99Us", time(spread.p99))
      .set("maxUs", time(spread.longest))
      .set("error", Json::text_or_null(probe.problem))
      .set("histogram", std::move(columns));
}

void print_json_members(Context& cx, const std::vector<MemberLatency>& members) {
  const auto histogram = histogram_of(rows_of(members));
  for (const auto& member : members)
    print_json(cx, Json::object()
                       .set("server", member.name)
                       .set("serverId", member.id)
                       .set("role", Json::text_or_null(member.role))
                       .set("error", Json::text_or_null(member.problem))
                       .set("requests", Json::array(member.probes, [&](const ProbeTimes& probe) {
                              return probe_json(probe, histogram);
                            })));
}

/// Reports what was not measured; returns the resulting exit status.
int report_problems(Context& cx, const std::vector<MemberLatency>& members) {
  int result = status::ok;
  const auto report = [&](const MemberLatency& member, const std::string& what) {
    result = status::failure;
    if (!cx.out.json())
      cx.out.err_line("{}: {}", cx.out.shown_in_error(member.name), cx.out.shown_in_error(what));
  };
  for (const auto& member : members) {
    if (!member.problem.empty()) report(member, member.problem);
    for (const auto& probe : member.probes)
      if (!probe.problem.empty())
        report(member, fmt::format("{}: {}", name_of(probe_names, probe.probe), probe.problem));
  }
  return result;
}

/// For --dry-run.
int report_writes(Context& cx, const std::vector<MemberLatency>& members, const LatencyPlan& plan) {
  const auto node = plan.node();
  for (const auto& member : members) {
    if (!plan.write || !member.problem.empty()) continue;
    print_rehearsed(cx.out, {.verb = "create",
                             .path = node.path,
                             .detail = fmt::format("{} bytes, sequential, ephemeral, at {}",
                                                   node.data->size(), member.name)});
    print_rehearsed(cx.out, {.verb = "set",
                             .path = node.path,
                             .detail = fmt::format("{} bytes, {} times, at {}", node.data->size(),
                                                   plan.rounds, member.name)});
  }
  if (!plan.write && !cx.out.json()) cx.out.err_line("nothing would be written");
  return status::ok;
}

int run(Context& cx, const Args& a) {
  const auto plan = plan_of(cx, a);
  auto members = members_of(cx, a, plan);
  if (a.dry_run) return report_writes(cx, members, plan);
  measure_latency(cx.client, members, plan, cx.stop);
  const auto rows = rows_of(members);
  if (cx.out.json())
    print_json_members(cx, members);
  else
    print_rows(cx, rows);
  if (cx.stop.stop_requested()) {
    std::size_t rounds = 0;
    for (const auto& row : rows) rounds = std::max(rounds, row.spread.count);
    throw Cancelled(fmt::format("interrupted after {} of {} rounds", rounds, plan.rounds));
  }
  const int result = report_problems(cx, members);
  return rows.empty() ? status::no_connection : result;
}

}  // namespace

extern const Command latency_command = make_command<Args>(
    {.name = "latency",
     .group = "Servers",
     .summary = "Measure the request latency of each server",
     .keywords = {"ping", "slow", "round-trip", "performance", "benchmark"},
     .details = "Opens a session to each member of the ensemble and sends it one request at a "
                "time: read (exists / or the chroot, which the server answers itself), sync (a "
                "round trip to the leader), and with --write a set of 12 bytes on an ephemeral "
                "node (which a quorum must write to disk). That node is created below --path, or / "
                "by default. Sessions use the current session's credentials.\n\nPrints the median, "
                "99th percentile and maximum for each server and kind of request, and a histogram "
                "on a terminal; its columns grow by a constant factor from the shortest time to "
                "the longest. Ctrl-C ends the measurement and shows the results so far.\n\n-o "
                "plain prints server, role, request, count, p50, p99 and max in microseconds, "
                "separated by tabs.\n\nA server that gives no session or no answer within -t is "
                "left out and named on stderr; the status is then 1, or 3 if nothing was measured.",
     .examples = {{"latency", "A hundred reads and syncs on each server."},
                  {"latency -n 20 --write", "Measure writes, too."},
                  {"latency -o json -n 10", "For scripts, in microseconds."}},
     .json = "server serverId role error requests",
     .json_fields = {{"requests", "list of Request", "The measurements of the server."}},
     .needs = Needs::Nothing},
    declare, run);
}  // namespace zksh::command_latency
