// contend: let many contenders ask for one lock, and show what it costs and who waits for whom.
#include "command.h"
#include "contention.h"
#include "duration.h"
#include "line_reader.h"
#include "recipes/lock_requests.h"

#include <chrono>
#include <memory>
#include <unistd.h>

namespace zksh {
namespace {

struct Args {
  std::string path;
  std::optional<std::int64_t> contenders;
  std::optional<std::int64_t> rounds;
  std::optional<std::int64_t> readers;
  std::optional<std::int64_t> sessions;
  std::optional<std::string> hold;
  std::optional<std::string> mode;
  std::optional<std::string> compat;
  bool report = false;
  bool verbose = false;
};

void declare(Options& o, Args& a) {
  o.node("path", a.path, "The lock.");
  o.number("-n,--contenders", a.contenders, "count", "How many ask for it (10).");
  o.number("--rounds", a.rounds, "count", "How often each acquires it (1).");
  o.text("--hold", a.hold, "How long each holds it: 250us, 20ms, 1.5s (0).", "time");
  o.choice("--mode", a.mode, {"exclusive", "write", "read"}, "mode", "What they ask for.");
  o.number("--readers", a.readers, "count", "So many of them are readers, the others writers.");
  o.choice("--compat", a.compat, {"curator", "kazoo", "all"}, "names", "Whose names.");
  o.number("--sessions", a.sessions, "count", "Over how many sessions they are spread (1).");
  o.flag("--report", a.report, "For programs.");
  o.flag("-v,--verbose", a.verbose, "Tell every step of every contender.");
}

struct Clients {
  std::vector<std::unique_ptr<Client>> further;
  std::vector<Client*> all;
};

Clients connect(Context& cx, std::size_t count) {
  Clients clients;
  clients.all.push_back(&cx.client);
  while (clients.all.size() < count)
    clients.all.push_back(clients.further.emplace_back(cx.client.another()).get());
  for (auto* client : clients.all) client->await_connection("/", cx.stop);
  return clients;
}

void make_parent(Context& cx, const std::string& path) {
  const auto parent = parent_path(path);
  if (parent == "/") return;
  Strand strand(cx.client.monitor());
  const LockReport report;
  LockRequests requests(cx.client, strand, report);
  run_flow(strand,
           make_ancestors(requests, std::string(parent), CreateMode::Persistent, open_acl()),
           cx.stop);
}

void print_report(Context& cx, const ContentionResult& result) {
  const auto nanoseconds = [](Clock::time_point time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
  };
  std::string text;
  for (const auto& turn : result.turns)
    text += fmt::format("{} {} {} {}\n", nanoseconds(turn.asked), nanoseconds(turn.acquired),
                        nanoseconds(turn.releasing), nanoseconds(turn.released));
  cx.out.out(text);
}

int run(Context& cx, const Args& a) {
  ContentionPlan plan;
  plan.request.path = cx.resolve(a.path);
  plan.contenders = static_cast<std::size_t>(a.contenders.value_or(10));
  plan.rounds = static_cast<std::size_t>(a.rounds.value_or(1));
  plan.readers = static_cast<std::size_t>(a.readers.value_or(0));
  if (a.hold) plan.hold = parse_short_duration(*a.hold, "--hold");
  if (a.compat)
    plan.request.compat = *a.compat == "kazoo" ? Compat::Kazoo
                          : *a.compat == "all" ? Compat::All
                                               : Compat::Curator;
  const auto mode = a.mode.value_or("exclusive");
  plan.request.read_write = mode != "exclusive" || plan.readers > 0;
  if (mode == "read") plan.readers = plan.contenders;
  const auto clients = connect(cx, static_cast<std::size_t>(a.sessions.value_or(1)));
  make_parent(cx, plan.request.path);
  ContentionReport report;
  report.warning = [&](std::size_t contender, const std::string& text) {
    cx.out.err_line("#{} {}", contender + 1, text);
  };
  if (a.verbose) report.step = report.warning;
  if (a.report) {
    LineReader orders(STDIN_FILENO, false, "standard input", cx.stop);
    cx.out.line("ready");
    std::string order;
    while (orders.next(order)) {
      const auto result = contend(plan, clients.all, report, cx.stop);
      if (result.failure) std::rethrow_exception(result.failure);
      print_report(cx, result);
      cx.out.line("done");
    }
    if (cx.stop.stop_requested()) throw Cancelled();
    return status::ok;
  }
  const auto result = contend(plan, clients.all, report, cx.stop);
  if (result.failure) std::rethrow_exception(result.failure);
  print_report(cx, result);
  return status::ok;
}

}  // namespace

extern const Command contend_command =
    make_command<Args>({.name = "contend",
                        .group = "Locks",
                        .summary = "Let many ask for one lock, and show what it costs",
                        .details = "",
                        .examples = {{"contend /app/lock", "ten contenders"}}},
                       declare, run);

}  // namespace zksh
