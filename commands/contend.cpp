// contend: let many contenders compete for a lock, and show who waited and what it cost.
#include "base/line_reader.h"
#include "base/number.h"
#include "base/time.h"
#include "client/rehearsal.h"
#include "command/command.h"
#include "command/prose.h"
#include "command/screen.h"
#include "config/settings.h"
#include "lock/contention.h"
#include "lock/options.h"
#include "node/acl_argument.h"
#include "recipes/lock_distance.h"
#include "recipes/recipe_requests.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <unistd.h>

namespace zksh::command_contend {
namespace {

/// The lock that the contenders request.
enum class Wanted { Exclusive, Write, Read };
constexpr NamedValues<Wanted, 3> wanted_names{
    {{"exclusive", Wanted::Exclusive}, {"write", Wanted::Write}, {"read", Wanted::Read}}};

struct Args {
  std::string path;
  std::optional<std::int64_t> contenders;
  std::optional<std::int64_t> rounds;
  std::optional<std::string> hold;
  std::optional<std::chrono::milliseconds> wait;
  std::optional<RecipeKind> recipe;
  bool compare = false;
  std::optional<Wanted> mode;
  std::optional<std::int64_t> readers;
  std::optional<Compat> compat;
  std::optional<std::string> acl;
  std::optional<std::int64_t> sessions;
  bool draw = false;
  bool report = false;
  bool verbose = false;
};

void declare(Options& o, Args& a) {
  o.node("path", a.path, "The lock.");
  o.number("-n,--contenders", a.contenders, "count", "Number of contenders (10).");
  o.number("--rounds", a.rounds, "count", "How often each contender acquires the lock (1).");
  o.text("--hold-for,--hold", a.hold,
         "How long each one holds it: 250us, 20ms, 1.5s (2ms; 0 with --report).", "time");
  o.duration("-w,--wait", a.wait,
             "Give up if nobody acquires or releases the lock for this time, beyond the time of "
             "holding (1m), with status 75.");
  o.choice("--recipe", a.recipe, recipe_names, "recipe",
           "How contenders wait for each other (fair).");
  o.flag("--compare", a.compare, "Run fair, then --recipe (herd), and compare them side by side.");
  o.choice(
      "--mode", a.mode, wanted_names, "mode",
      "What each one asks for: an exclusive lock (the default), or the write or the read side of "
      "a read/write lock.");
  o.number("--readers", a.readers, "count", "Number of contenders that read; the others write.");
  o.choice("--compat", a.compat, compat_names, "names",
           "Node names of another library: curator (the default), kazoo or all, as for `lock`.");
  declare_lock_acl(o, a.acl);
  o.number("--sessions", a.sessions, "count",
           "Number of sessions that the contenders share (1, the shell's own; for recipes other "
           "than fair one per contender, at most 50).");
  o.flag("--draw", a.draw, "Draw the timeline even if the output is not a terminal.");
  o.flag("--report", a.report,
         "Wait for a start line, and report each acquisition; for programs (see below).");
  o.flag("-v,--verbose", a.verbose, "Print every step of every contender.");
}

constexpr std::int64_t most_contenders =
    2'000;  // each lists all others at once, and a server must hold the answers
constexpr std::int64_t most_rounds = 10'000'000;
constexpr std::int64_t most_sessions = 10'000;
/// Less than the 60 connections that a server accepts from one address.
constexpr std::size_t usual_sessions = 50;
/// The rows of a drawing, which should fit on a screen with the table.
constexpr std::size_t most_rows = 20;

std::size_t count_of(const std::optional<std::int64_t>& given, std::int64_t otherwise,
                     std::int64_t least, std::int64_t most, const char* option) {
  const auto count = given.value_or(otherwise);
  if (count < least || count > most)
    throw ValueError(fmt::format("{}: {} is not between {} and {}", option, count, least, most));
  return static_cast<std::size_t>(count);
}

ContentionPlan plan_of(Context& cx, const Args& a) {
  ContentionPlan plan;
  plan.request.paths = {cx.resolve(a.path)};
  plan.contenders = count_of(a.contenders, 10, 1, most_contenders, "-n");
  plan.rounds = count_of(a.rounds, 1, 1, most_rounds, "--rounds");
  plan.readers = count_of(a.readers, 0, 0, static_cast<std::int64_t>(plan.contenders), "--readers");
  plan.hold = parse_short_duration(a.hold.value_or(a.report ? "0" : "2ms"), "--hold-for");
  if (a.wait) plan.patience = *a.wait;
  LockOptions options;
  options.program = {"contend"};
  plan.request.owner = lock_owner(options);
  plan.request.compat = a.compat;
  plan.request.acl = lock_acl(cx, a.acl, plan.request.path(), false);
  const auto mode = a.mode.value_or(Wanted::Exclusive);
  if (a.readers && a.mode && mode != Wanted::Write)
    throw UsageError("--readers can only be combined with --mode write");
  plan.request.read_write = a.readers || mode != Wanted::Exclusive;
  if (mode == Wanted::Read) plan.readers = plan.contenders;
  return plan;
}

std::vector<RecipeKind> recipes_of(const Args& a) {
  const auto recipe = a.recipe.value_or(a.compare ? RecipeKind::Herd : RecipeKind::Fair);
  if (!a.compare) return {recipe};
  if (recipe == RecipeKind::Fair) throw UsageError("--compare needs a --recipe other than fair");
  return {RecipeKind::Fair, recipe};
}

/// Creates a persistent parent, as for a lock.
void make_parent(Context& cx, const ContentionPlan& plan) {
  const std::string parent(parent_path(plan.request.path()));
  if (parent == "/") return;
  Fiber fiber(cx.monitor());
  const RecipeReport report;
  RecipeRequests requests(cx.client, fiber, report);
  requests.set_deadline(Clock::now() + plan.patience);
  try {
    run_task(fiber, make_ancestors(requests, parent, CreateMode::Persistent, plan.request.acl),
             cx.stop);
  } catch (const LockBusy& error) {
    throw LockBusy(fmt::format("{}: {}", parent, error.what()));
  }
}

/// Prints each warning once, however many contenders report it, and with `verbose` every step.
ContentionReport report_to(Context& cx, bool verbose) {
  // Also prints while the contenders leave the queue after Ctrl-C.
  const auto say = [&cx](std::size_t contender, const std::string& text) {
    cx.out.err_line_regardless(fmt::format("#{} {}", contender + 1, cx.out.shown_in_error(text)));
  };
  ContentionReport report;
  report.warning = [say, said = std::set<std::string>()](std::size_t contender,
                                                         const std::string& text) mutable {
    if (said.insert(text).second) say(contender, "warning: " + text);
  };
  if (verbose) report.step = say;
  return report;
}

std::string turns_for_programs(const ContentionResult& result) {
  const auto nanoseconds = [](Clock::time_point time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
  };
  std::string text;
  for (const auto& turn : result.turns)
    text += fmt::format("{} {} {} {}\n", nanoseconds(turn.asked), nanoseconds(turn.acquired),
                        nanoseconds(turn.releasing), nanoseconds(turn.released));
  return text + "done\n";
}

/// The protocol for a program, which decides when to start, and how often.
int run_for_program(Context& cx, const ContentionPlan& plan, const ContentionSessions& sessions,
                    const ContentionReport& report) {
  LineReader orders(STDIN_FILENO, false, "standard input", cx.stop);
  cx.out.line("ready");
  std::string order;
  while (orders.next(order)) {
    const auto result = contend(plan, sessions.clients(), report, cx.stop);
    if (result.failure) std::rethrow_exception(result.failure);
    cx.out.out(turns_for_programs(result));
  }
  if (cx.stop.stop_requested()) throw Cancelled();
  return status::ok;
}

void print_heading(Context& cx, const ContentionPlan& plan, std::size_t sessions) {
  auto what = counted(plan.contenders, "contender");
  if (plan.request.read_write)
    what += plan.readers == 0                 ? " that write"
            : plan.readers == plan.contenders ? " that read"
                                              : fmt::format(", {} of them readers", plan.readers);
  if (plan.rounds > 1) what += fmt::format(", {} rounds", plan.rounds);
  if (plan.hold.count() > 0) what += fmt::format(", holding for {}", short_time(plan.hold));
  print_prose(cx.out, "{}: {}, {}", cx.out.shown(plan.request.path()), what,
              counted(sessions, "session"));
}

void print_drawings(Context& cx, const std::vector<ContentionTrial>& trials,
                    const ContentionPlan& plan) {
  const bool terminal = cx.out.style().out_is_terminal;
  const DrawingStyle style{.columns = terminal ? terminal_size().columns : 80,
                           .rows = trials.size() > 1 ? most_rows / 2 : most_rows,
                           .ascii = !terminal_shows_utf8() || (terminal && !terminal_can_redraw())};
  for (const auto& trial : trials) {
    cx.out.line("");
    if (trials.size() > 1) cx.out.line("{}:", trial.title);
    cx.out.lines(draw_contention(trial.result, plan.contenders, style));
  }
}

/// Reports what must not have happened; returns the exit status.
int verdict(Context& cx, const ContentionTrial& trial) {
  const auto& statistics = trial.statistics;
  const auto since = [&](Clock::time_point time) { return short_time(time - trial.result.began); };
  for (const auto& [one, other] : statistics.overlaps)
    cx.out.err_line("OVERLAP ({}): #{} held from {} to {}, and #{} from {}", trial.title,
                    one.contender + 1, since(one.acquired), since(one.releasing),
                    other.contender + 1, since(other.acquired));
  if (statistics.overlap_count > 0) {
    cx.out.err_line("THE LOCK DID NOT EXCLUDE: {} overlaps in {} acquisitions",
                    statistics.overlap_count, statistics.acquisitions);
    return status::failure;
  }
  if (statistics.lost > 0) {
    cx.out.err_line("{} of {} acquisitions {} release", statistics.lost, statistics.acquisitions,
                    statistics.lost == 1 ? "was lost before its" : "were lost before their");
    return status::lock_lost;
  }
  return status::ok;
}

/// Side by side, or one below the other on a narrow terminal.
std::vector<std::string> table_lines(Context& cx, const std::vector<ContentionTrial>& trials) {
  auto lines = contention_table(trials);
  const auto widest = std::ranges::max(lines, {}, &std::string::size).size();
  if (!cx.out.style().out_is_terminal || widest <= terminal_size().columns) return lines;
  lines.clear();
  for (const auto& trial : trials) {
    if (!lines.empty()) lines.emplace_back();
    std::ranges::copy(contention_table({&trial, 1}), std::back_inserter(lines));
  }
  return lines;
}

void print(Context& cx, const Args& a, const ContentionPlan& plan,
           const std::vector<ContentionTrial>& trials, std::size_t sessions) {
  const bool plain = cx.out.plain();
  if (cx.out.text()) print_heading(cx, plan, sessions);
  if (cx.out.json())
    for (const auto& trial : trials) cx.out.line("{}", contention_json(trial));
  else
    cx.out.lines(plain ? contention_figures(trials) : table_lines(cx, trials));
  const auto not_counted =
      std::ranges::find_if(trials, [](const auto& trial) { return !trial.not_counted.empty(); });
  if (not_counted != trials.end())
    cx.out.err_line("the events are counted by the contenders: {}",
                    cx.out.shown_in_error(not_counted->not_counted));
  if (cx.out.text() && trials.size() > 1)
    if (const auto text = compared(trials[0], trials[1]); !text.empty()) cx.out.line("{}", text);
  if (!cx.out.json() && (a.draw || (cx.out.style().out_is_terminal && !plain)))
    print_drawings(cx, trials, plan);
}

int contend(Context& cx, const Args& a, ContentionPlan& plan) {
  const auto recipes = recipes_of(a);
  const bool one_each =
      std::ranges::any_of(recipes, [](RecipeKind recipe) { return recipe != RecipeKind::Fair; });
  const auto sessions_wanted =
      count_of(a.sessions,
               one_each ? static_cast<std::int64_t>(std::min(plan.contenders, usual_sessions)) : 1,
               1, most_sessions, "--sessions");
  if (a.report && (cx.input == Input::Terminal || cx.input == Input::Pipe))
    throw UsageError(
        "--report reads standard input, but the commands come from there; use -c or -f");
  if (a.report && a.compare) throw UsageError("--report cannot be used with --compare");
  if (cx.rehearsal) {
    cx.rehearsal->note({.verb = "contend for", .path = plan.request.path()});
    return status::ok;
  }

  const ContentionSessions sessions(cx.client, sessions_wanted, cx.stop);
  refuse_distance(*sessions.clients().front(), {}, cx.stop);
  make_parent(cx, plan);
  const auto report = report_to(cx, a.verbose);
  plan.request.recipe = recipes.front();
  if (a.report) return run_for_program(cx, plan, sessions, report);

  const AdminServers admin_servers(cx.services.settings.value("admin-server"), cx.client.server());
  std::vector<ContentionTrial> trials;
  trials.reserve(recipes.size());
  for (const auto recipe : recipes) {
    plan.request.recipe = recipe;
    const auto& trial =
        trials.emplace_back(try_contention(plan, sessions, admin_servers, report, cx.stop));
    if (!cx.stop.stop_requested()) continue;
    const auto& statistics = trial.statistics;
    throw Cancelled(fmt::format("interrupted after {} of {} acquisitions; {}",
                                statistics.acquisitions, plan.contenders * plan.rounds,
                                how_left(trial.result)));
  }
  print(cx, a, plan, trials, sessions.clients().size());
  int result = status::ok;
  for (const auto& trial : trials) result = std::max(result, verdict(cx, trial));
  return result;
}

int run(Context& cx, const Args& a) {
  auto plan = plan_of(cx, a);
  return explaining_acl(cx, plan.request.acl, [&] { return contend(cx, a, plan); });
}

}  // namespace

extern const Command contend_command = make_command<Args>(
    {.name = "contend",
     .group = "Locks",
     .summary = "Measure a lock with many contenders",
     .keywords = {"benchmark", "fair", "herd", "demonstrate"},
     .details =
         "All contenders ask for the lock at once, each with its own node and its own watches.\nA "
         "table then shows the cost, and a timeline shows who waited and who held the "
         "lock.\n\nHandoff is the time from the release call until the next contender holds the "
         "lock, if\nthat one was already waiting. Watch events are counted by the servers (mntr), "
         "for all\nclients together; if the servers do not allow that, by the contenders. A "
         "session gets\none event for a change, however many of its contenders wait for it; "
         "recipes in which\nmany contenders watch the same node therefore use one session per "
         "contender.\n\nfair: a queue in which each contender watches the one before it. A release "
         "wakes one.\n\nherd: the same queue, but each contender watches all of it. A change wakes "
         "everyone.\n\nexclusive: no queue. All race to create the single node PATH/lock, in no "
         "order, and a\nrelease wakes everyone. It does not exclude contenders of the other "
         "recipes.\n\n--report prints 'ready' once everything is connected, and starts when a line "
         "arrives on\nstandard input. It prints a line for each acquisition, ASKED ACQUIRED "
         "RELEASING\nRELEASED, in nanoseconds of CLOCK_MONOTONIC: before and after the acquire "
         "call, before\nand after the release call. Then it prints 'done'. Another line starts it "
         "again; end of\ninput ends it.\n\nThe exit status is 1 if two contenders that exclude "
         "each other held the lock at the\nsame time, and 76 if a lock was lost while held (its "
         "session ended, or its node was\ndeleted). After Ctrl-C, and with status 75 if nobody "
         "acquires or releases the lock\nfor a minute (-w), all contenders leave the queue.",
     .examples = {{"contend /app/lock", "Ten contenders, each once."},
                  {"contend /app/lock -n 20 --compare",
                   "Compare a fair lock with one that wakes everyone."},
                  {"contend /app/lock -n 12 --readers 8",
                   "Readers share the lock; writers hold it alone."},
                  {"contend /app/lock -n 3 -v",
                   "Every request, answer and event of three contenders."}},
     .json =
         "recipe acquisitions together requestsPerAcquisition events eventsPerRelease "
         "eventsByOneRelease nodesLeft watchesLeft tookUs handoffP50Us handoffP99Us handoffMaxUs "
         "acquireP50Us acquireP99Us acquireMaxUs releaseP50Us releaseP99Us releaseMaxUs",
     .json_fields =
         {{"acquireMaxUs", "number?",
           "The longest time until the lock was acquired, in microseconds."},
          {"acquireP50Us", "number?",
           "The median time until the lock was acquired, in microseconds."},
          {"acquireP99Us", "number?",
           "The 99th percentile of the time until the lock was acquired, in microseconds."},
          {"acquisitions", "integer", "How often a lock was acquired."},
          {"events", "integer", "Watch events that the servers sent."},
          {"eventsByOneRelease", "integer", "The most watch events that one release caused."},
          {"eventsPerRelease", "number?", "Watch events per release."},
          {"handoffMaxUs", "number?",
           "The longest time from a release to the next acquisition, in microseconds."},
          {"handoffP50Us", "number?", "The median time of a handoff, in microseconds."},
          {"handoffP99Us", "number?", "The 99th percentile of handoffs, in microseconds."},
          {"nodesLeft", "integer", "Nodes that the contenders left behind."},
          {"recipe", "string", "The recipe that was tried."},
          {"releaseMaxUs", "number?", "The longest time of a release, in microseconds."},
          {"releaseP50Us", "number?", "The median time of a release, in microseconds."},
          {"releaseP99Us", "number?", "The 99th percentile of releases, in microseconds."},
          {"requestsPerAcquisition", "number?", "Requests per acquisition."},
          {"together", "integer", "The largest number of simultaneous holders."},
          {"tookUs", "number", "The total time, in microseconds."},
          {"watchesLeft", "integer?", "Watches that the contenders left behind."}},
     .writes = true},
    declare, run);

}  // namespace zksh::command_contend
