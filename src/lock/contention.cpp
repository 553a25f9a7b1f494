// Contention: runs many contenders for a lock in this process, and analyses what happened.
#include "lock/contention.h"

#include "base/json.h"
#include "base/mapped.h"
#include "base/number.h"
#include "client/client.h"
#include "client/node_path.h"
#include "client/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <map>

namespace zksh {
namespace {

/// What the contenders share. One at a time is driven.
struct Arena {
  const ContentionPlan& plan;
  ContentionResult& result;
  std::stop_source& stop;
  Scheduler& driver;
  Fiber& referee;
  std::size_t running;                       ///< contenders that have not finished
  Clock::time_point progress{Clock::now()};  ///< the last acquisition or release
  bool stalled = false;                      ///< no progress for too long
};

/// Ends a contention that makes no progress.
Task<> watch_progress(Arena& arena) {
  try {
    while (arena.running > 0) {
      const auto due = arena.progress + arena.plan.hold + arena.plan.patience;
      arena.stalled = Clock::now() >= due;
      if (arena.stalled) break;
      co_await arena.referee.pause_until(due);
    }
  } catch (const Cancelled&) {
    co_return;  // all contenders have ended, or are to end
  }
  if (arena.stalled) arena.stop.request_stop();
}

class Participant {
 public:
  Participant(std::size_t number, Client& client, const ContentionReport& report, Arena& arena)
      : number_(number),
        client_(client),
        arena_(arena),
        request_(arena.plan.request),
        fiber_(client.monitor()) {
    const auto& plan = arena.plan;
    const bool reads =
        (number + 1) * plan.readers / plan.contenders > number * plan.readers / plan.contenders;
    if (reads) request_.mode = LockMode::Shared;
    const auto numbered =
        [number, &arena](const auto& listener) -> std::function<void(const std::string&)> {
      if (!listener) return {};
      // The listener may block, on a stalled terminal.
      return [number, &arena, &listener](const std::string& text) {
        arena.driver.defer([number, &listener, text] { listener(number, text); });
      };
    };
    report_.step = numbered(report.step);
    report_.warning = numbered(report.warning);
    report_.request = [&arena] { ++arena.result.requests; };
    report_.event = [&arena] { arena.result.events.push_back(Clock::now()); };
    fiber_.begin(contend());
  }

  Fiber& fiber() { return fiber_; }
  const std::deque<ContenderTurn>& turns() const { return turns_; }

 private:
  Task<> contend();
  Task<> take_turn(ContenderTurn& turn);

  std::size_t number_;
  Client& client_;
  Arena& arena_;
  LockRequest request_;
  RecipeReport report_;
  std::deque<ContenderTurn> turns_;
  Fiber fiber_;  // last: its task uses the others
};

Task<> Participant::take_turn(ContenderTurn& turn) {
  const auto lock = make_recipe(client_, fiber_, report_, request_);
  turn.asked = Clock::now();
  co_await lock->acquire(Fiber::never);
  turn.acquired = arena_.progress = Clock::now();
  std::exception_ptr interrupted;
  try {
    if (arena_.plan.hold.count() > 0) co_await fiber_.pause_until(turn.acquired + arena_.plan.hold);
  } catch (const Cancelled&) {  // rethrown once the lock is given back
    interrupted = std::current_exception();
  }
  turn.releasing = Clock::now();
  const bool was_held = co_await lock->release();
  turn.released = arena_.progress = Clock::now();
  turn.lost = !was_held;
  if (interrupted) std::rethrow_exception(interrupted);
}

Task<> Participant::contend() {
  try {
    for (std::size_t round = 0; round < arena_.plan.rounds; ++round) {
      auto& turn = turns_.emplace_back();
      turn.contender = number_;
      turn.mode = request_.mode;
      co_await take_turn(turn);
    }
  } catch (const Cancelled&) {
    co_return;     // the user who interrupted it knows
  } catch (...) {  // rethrown in the thread that runs the contention
    if (!arena_.result.failure) arena_.result.failure = std::current_exception();
    arena_.stop.request_stop();
  }
  if (--arena_.running == 0) arena_.referee.cancel();
}

/// How long to wait for the next session to connect while others do.
constexpr std::chrono::seconds most_of_a_wait{5};

constexpr Clock::time_point not_yet{};
constexpr std::size_t overlaps_kept = 5;

/// The turns that held the lock, in order of acquisition.
std::vector<ContenderTurn> turns_held(const ContentionResult& result) {
  std::vector<ContenderTurn> held;
  std::ranges::copy_if(result.turns, std::back_inserter(held),
                       [](const ContenderTurn& turn) { return turn.acquired != not_yet; });
  std::ranges::sort(held, {}, &ContenderTurn::acquired);
  for (auto& turn : held)
    if (turn.releasing == not_yet) turn.releasing = result.ended;
  return held;
}

/// The writer and the reader, of those noted so far, that release the lock last.
struct Latest {
  const ContenderTurn* writer = nullptr;
  const ContenderTurn* reader = nullptr;

  void note(const ContenderTurn& turn) {
    auto& latest = turn.mode == LockMode::Shared ? reader : writer;
    if (!latest || latest->releasing < turn.releasing) latest = &turn;
  }
  /// The turn that must have released before this one may hold the lock.
  const ContenderTurn* before(const ContenderTurn& turn) const {
    if (turn.mode == LockMode::Shared || !reader) return writer;
    return !writer || writer->releasing < reader->releasing ? reader : writer;
  }
};

void find_overlaps(const std::vector<ContenderTurn>& held, ContentionStatistics& statistics) {
  Latest latest;
  for (const auto& turn : held) {
    if (turn.lost) continue;  // reported separately
    const auto* const before = latest.before(turn);
    if (before && turn.acquired < before->releasing) {
      ++statistics.overlap_count;
      if (statistics.overlaps.size() < overlaps_kept)
        statistics.overlaps.emplace_back(*before, turn);
    }
    latest.note(turn);
  }
}

Spread handoffs(const std::vector<ContenderTurn>& held) {
  std::vector<std::chrono::nanoseconds> times;
  Latest latest;
  for (const auto& turn : held) {
    const auto* const before = latest.before(turn);
    if (before && turn.asked < before->releasing && before->releasing <= turn.acquired)
      times.push_back(turn.acquired - before->releasing);
    latest.note(turn);
  }
  return spread_of(std::move(times));
}

std::vector<Clock::time_point> sorted_releases(const std::vector<ContenderTurn>& held) {
  auto releases = mapped(held, &ContenderTurn::releasing);
  std::ranges::sort(releases);
  return releases;
}

std::size_t most_together(const std::vector<ContenderTurn>& held) {
  const auto ends = sorted_releases(held);
  std::size_t most = 0;
  std::size_t ended = 0;
  for (std::size_t begun = 1; begun <= held.size(); ++begun) {
    while (ends[ended] <= held[begun - 1].acquired && ended + 1 < begun) ++ended;
    most = std::max(most, begun - ended);
  }
  return most;
}

/// A release fires its events at once; all have arrived before the next holder's release.
std::size_t most_events(const ContentionResult& result, const std::vector<ContenderTurn>& held) {
  const auto releases = sorted_releases(held);
  std::map<std::ptrdiff_t, std::size_t> counts;
  std::size_t most = 0;
  for (const auto event : result.events) {
    const auto before = std::ranges::upper_bound(releases, event) - releases.begin();
    most = std::max(most, ++counts[before]);
  }
  return most;
}

}  // namespace

ContentionResult contend(const ContentionPlan& plan, const std::vector<Client*>& clients,
                         const ContentionReport& report, const std::stop_token& stop) {
  ContentionResult result;
  std::stop_source all_stop;
  const std::stop_callback forward(stop, [&] { all_stop.request_stop(); });
  Scheduler driver(clients.front()->monitor());
  Fiber referee(clients.front()->monitor());
  Arena arena{.plan = plan,
              .result = result,
              .stop = all_stop,
              .driver = driver,
              .referee = referee,
              .running = plan.contenders};
  referee.begin(watch_progress(arena));
  std::vector<std::unique_ptr<Participant>> participants;
  participants.reserve(plan.contenders);
  for (std::size_t i = 0; i < plan.contenders; ++i) {
    auto& client = *clients[i % clients.size()];
    driver.add(participants.emplace_back(std::make_unique<Participant>(i, client, report, arena))
                   ->fiber());
  }
  driver.add(referee);
  result.began = Clock::now();
  if (!driver.run(all_stop.get_token(), plan.leave_patience))
    result.left_behind = static_cast<std::size_t>(
        std::ranges::count_if(participants, [](const auto& one) { return !one->fiber().ended(); }));
  if (arena.stalled && !result.failure)
    result.failure = std::make_exception_ptr(LockBusy(
        fmt::format("{}: nobody acquired or released the lock for {}; {}", plan.request.path(),
                    short_time(plan.hold + plan.patience), how_left(result))));
  result.ended = Clock::now();
  result.turns.reserve(plan.contenders * plan.rounds);
  for (const auto& participant : participants)
    result.turns.insert(result.turns.end(), participant->turns().begin(),
                        participant->turns().end());
  return result;
}

std::string how_left(const ContentionResult& result) {
  const auto left = result.left_behind;
  if (left == 0) return "all contenders have left the queue";
  return fmt::format("{} could not leave the queue: no server answers", counted(left, "contender"));
}

namespace {

enum class Mark : char { Nothing, Waits, Shares, Holds, Lost };

std::string_view sign_of(Mark mark, bool ascii) {
  constexpr std::array<std::string_view, 5> ascii_signs{" ", "-", "=", "#", "!"};
  constexpr std::array<std::string_view, 5> signs{" ", "·", "▒", "█", "!"};
  return (ascii ? ascii_signs : signs).at(static_cast<std::size_t>(mark));
}

/// Maps the time of a contention to columns.
class TimeLine {
 public:
  TimeLine(const ContentionResult& result, std::size_t columns)
      : began_(result.began), ended_(result.ended), columns_(columns) {}

  void draw(std::vector<Mark>& row, const ContenderTurn& turn) const {
    if (turn.asked == not_yet) return;
    mark(row, turn.asked, turn.acquired == not_yet ? ended_ : turn.acquired, Mark::Waits);
    if (turn.acquired == not_yet) return;
    const auto until = turn.releasing == not_yet ? ended_ : turn.releasing;
    mark(row, turn.acquired, until, turn.mode == LockMode::Shared ? Mark::Shares : Mark::Holds);
    if (turn.lost) mark(row, until, until, Mark::Lost);
  }

 private:
  std::size_t column_of(Clock::time_point time) const {
    const std::chrono::duration<double> since = time - began_;
    const std::chrono::duration<double> all = ended_ - began_;
    if (since.count() <= 0 || all.count() <= 0) return 0;
    const auto place = since.count() / all.count() * static_cast<double>(columns_);
    return std::min(static_cast<std::size_t>(place), columns_ - 1);
  }
  /// If several things happen in a column, it shows the most important.
  void mark(std::vector<Mark>& row, Clock::time_point from, Clock::time_point to, Mark what) const {
    for (auto column = column_of(from); column <= column_of(to); ++column)
      row[column] = std::max(row[column], what);
  }

  Clock::time_point began_;
  Clock::time_point ended_;
  std::size_t columns_;
};

std::string text_of(const std::vector<Mark>& row, bool ascii) {
  std::string text;
  for (const auto mark : row) text += sign_of(mark, ascii);
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string legend(const ContentionResult& result, bool ascii) {
  const auto has = [&](LockMode mode) {
    return std::ranges::any_of(result.turns,
                               [&](const ContenderTurn& turn) { return turn.mode == mode; });
  };
  std::string text = fmt::format("{} waits", sign_of(Mark::Waits, ascii));
  if (has(LockMode::Exclusive)) text += fmt::format("   {} holds", sign_of(Mark::Holds, ascii));
  if (has(LockMode::Shared)) text += fmt::format("   {} reads", sign_of(Mark::Shares, ascii));
  if (std::ranges::any_of(result.turns, &ContenderTurn::lost))
    text += fmt::format("   {} lost", sign_of(Mark::Lost, ascii));
  return text;
}

}  // namespace

std::vector<std::string> draw_contention(const ContentionResult& result, std::size_t contenders,
                                         const DrawingStyle& style) {
  const auto label_width = fmt::format("#{}", contenders).size();
  // A terminal wraps after its last column.
  const auto columns = std::max<std::size_t>(style.columns, label_width + 12) - label_width - 2;
  const TimeLine line(result, columns);
  std::vector rows(contenders, std::vector(columns, Mark::Nothing));
  for (const auto& turn : result.turns) line.draw(rows[turn.contender], turn);

  const auto shown = std::min(contenders, std::max<std::size_t>(style.rows, 2));
  std::vector<std::string> lines;
  lines.reserve(shown + 2);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto number = shown > 1 ? i * (contenders - 1) / (shown - 1) : 0;
    lines.push_back(fmt::format("{:>{}} {}", fmt::format("#{}", number + 1), label_width,
                                text_of(rows[number], style.ascii)));
  }
  const auto end = short_time(result.ended - result.began);
  lines.push_back(fmt::format("{:{}} 0{:>{}}", "", label_width, end, columns - 1));
  auto meaning = legend(result, style.ascii);
  if (shown < contenders) meaning += fmt::format("   ({} of {} are drawn)", shown, contenders);
  lines.push_back(fmt::format("{:{}} {}", "", label_width, meaning));
  return lines;
}

ContentionSessions::ContentionSessions(Client& own) : own_(own), clients_{&own} {}

ContentionSessions::ContentionSessions(Client& own, std::size_t count,
                                       const std::stop_token& stop)
    : ContentionSessions(own) {  // from here on, the destructor closes what is open
  own_.await_connection("/", stop);
  clients_.reserve(count);
  further_.reserve(count);
  while (clients_.size() < count) {
    auto& client = *further_.emplace_back(own_.another());
    clients_.push_back(&client);
    client.open(own_.server());
  }
  await_all(stop);
  for (const auto& client : further_)
    for (const auto& [scheme, secret] : own_.credentials()) client->add_auth(scheme, secret, stop);
}

void ContentionSessions::await_all(const std::stop_token& stop) {
  auto& monitor = own_.monitor();
  const auto connected = [&](const Monitor::Held& held) {
    return static_cast<std::size_t>(std::ranges::count_if(
        clients_, [&](Client* client) { return is_connected(client->state(held)); }));
  };
  std::size_t connected_before = 0;
  while (connected_before < clients_.size()) {
    // Waits for the rest as long as more keep connecting.
    const bool more = monitor.wait_until(
        stop, Clock::now() + most_of_a_wait,
        [&](const Monitor::Held& held) { return connected(held) > connected_before; });
    if (stop.stop_requested()) throw Cancelled();
    connected_before = monitor.with_lock(connected);
    if (!more)
      throw Error(
          fmt::format(
              "only {} of {} sessions could be opened; a server may limit the connections from one "
              "address (maxClientCnxns, 60 by default); --sessions sets the number of sessions",
              connected_before, clients_.size()),
          status::server_refused);
  }
}

std::set<std::int64_t> ContentionSessions::ids() const {
  std::set<std::int64_t> ids;
  for (auto* client : clients_) ids.insert(client->session_id());
  return ids;
}

ContentionSessions::~ContentionSessions() {
  for (const auto& client : further_) client->begin_close();
  for (const auto& client : further_) client->close();
}

namespace {

std::int64_t fired(const ContentionTrial& trial) {
  return trial.counted ? trial.counted->fired : static_cast<std::int64_t>(trial.statistics.events);
}

/// A number as it is written; nullopt: not known.
using Number = std::optional<std::string>;

Number per_acquisition(const ContentionTrial& trial, std::int64_t count) {
  const auto acquisitions = static_cast<double>(trial.statistics.acquisitions);
  if (acquisitions == 0) return std::nullopt;
  return fmt::format("{:.2f}", static_cast<double>(count) / acquisitions);
}

/// A figure: its name in the table, its key for programs, and its value.
struct Figure {
  const char* name;
  const char* key;
  Number value;
};

std::vector<Figure> figures_of(const ContentionTrial& trial) {
  const auto& counted = trial.counted;
  const auto requests = static_cast<std::int64_t>(trial.result.requests);
  return {{"acquisitions", "acquisitions", std::to_string(trial.statistics.acquisitions)},
          {"  at the same time", "together", std::to_string(trial.statistics.together)},
          {"requests per acquisition", "requestsPerAcquisition", per_acquisition(trial, requests)},
          {"watch events fired", "events", std::to_string(fired(trial))},
          {"  per release", "eventsPerRelease", per_acquisition(trial, fired(trial))},
          {"  by one release", "eventsByOneRelease",
           counted && counted->most ? std::to_string(*counted->most)
                                    : std::to_string(trial.statistics.events_at_once)},
          {"znodes left", "nodesLeft", std::to_string(trial.znodes_left)},
          {"watches left", "watchesLeft",
           counted ? Number(std::to_string(counted->left)) : std::nullopt}};
}

/// A distribution, shown as three figures.
struct SpreadFigures {
  const char* name;
  const char* key;
  Spread ContentionStatistics::*spread;
};
constexpr std::array spreads{
    SpreadFigures{"handoff", "handoff", &ContentionStatistics::handoff},
    SpreadFigures{"acquire, with the wait", "acquire", &ContentionStatistics::acquire},
    SpreadFigures{"release", "release", &ContentionStatistics::release}};

/// All figures by their keys, in order.
std::vector<std::pair<std::string, Number>> values_of(const ContentionTrial& trial) {
  const auto microseconds = [](std::chrono::nanoseconds time) {
    return fmt::format("{:.1f}", static_cast<double>(time.count()) / 1e3);
  };
  std::vector<std::pair<std::string, Number>> values;
  for (auto& figure : figures_of(trial)) values.emplace_back(figure.key, std::move(figure.value));
  values.emplace_back("tookUs", microseconds(trial.statistics.took));
  for (const auto& one : spreads) {
    const auto& spread = trial.statistics.*one.spread;
    const auto add = [&](const char* suffix, std::chrono::nanoseconds time) {
      values.emplace_back(std::string(one.key) + suffix,
                          spread.count == 0 ? Number() : microseconds(time));
    };
    add("P50Us", spread.median);
    add("P99Us", spread.p99);
    add("MaxUs", spread.longest);
  }
  return values;
}

}  // namespace

std::vector<std::string> contention_table(std::span<const ContentionTrial> trials) {
  std::vector<std::string> lines;
  using Three = std::array<std::string, 3>;
  const auto add = [&](const char* name, const std::function<Three(const ContentionTrial&)>& of) {
    auto line = fmt::format("{:<24}", name);
    for (const auto& trial : trials)
      for (const auto& figure : of(trial)) line += fmt::format("{:>9}", figure);
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  };
  add("", [](const auto& of) { return Three{of.title}; });
  const bool together = std::ranges::any_of(
      trials, [](const ContentionTrial& of) { return of.statistics.together > 1; });
  const auto figures = figures_of(trials.front());
  for (std::size_t i = 0; i < figures.size(); ++i)
    if (together || figures[i].key != std::string_view("together"))
      add(figures[i].name,
          [&](const auto& of) { return Three{figures_of(of)[i].value.value_or("-")}; });
  add("took", [](const auto& of) { return Three{short_time(of.statistics.took)}; });
  add("", [](const auto&) { return Three{"median", "99 %", "longest"}; });
  for (const auto& one : spreads)
    add(one.name, [&](const auto& of) {
      const auto& spread = of.statistics.*one.spread;
      if (spread.count == 0) return Three{"-", "-", "-"};
      return Three{short_time(spread.median), short_time(spread.p99), short_time(spread.longest)};
    });
  return lines;
}

std::vector<std::string> contention_figures(std::span<const ContentionTrial> trials) {
  std::vector<std::string> lines{"recipe"};
  for (const auto& trial : trials) {
    lines.front() += '\t' + trial.title;
    std::size_t line = 0;
    for (const auto& [key, value] : values_of(trial)) {
      if (++line == lines.size()) lines.push_back(key);
      lines[line] += '\t' + value.value_or("-");
    }
  }
  return lines;
}

std::string contention_json(const ContentionTrial& trial) {
  auto text = "{\"recipe\":" + Json(trial.title).text();
  for (const auto& [key, value] : values_of(trial))
    text += fmt::format(",\"{}\":{}", key, value.value_or("null"));
  return text + '}';
}

std::string compared(const ContentionTrial& first, const ContentionTrial& second) {
  const auto& before = first.statistics.handoff;
  const auto& after = second.statistics.handoff;
  if (fired(first) <= 0 || before.median.count() <= 0 || after.count == 0) return {};
  const auto ratio = [](auto to, auto from) {
    return static_cast<double>(to) / static_cast<double>(from);
  };
  return fmt::format("{}: {:.1f} times the events of {}, and handoffs take {:.1f} times as long",
                     second.title, ratio(fired(second), fired(first)), first.title,
                     ratio(after.median.count(), before.median.count()));
}

namespace {

/// The number of nodes of these sessions below the lock.
std::size_t znodes_left(Client& client, const std::string& path, const std::set<std::int64_t>& ids,
                        const std::stop_token& stop) {
  std::size_t left = 0;
  try {
    client.await_connection(path, stop);  // the session may have been lost meanwhile
    for (const auto& name : client.children(path, Watch::none(), stop).names.strings()) {
      const auto stat = client.exists(join_path(path, name), Watch::none(), stop);
      if (stat && ids.contains(stat->ephemeral_owner)) ++left;
    }
  } catch (const ZkError& error) {
    if (error.code() != code::no_node) throw;
  }
  return left;
}

/// Waits until at least `least` events are counted: a follower may lag behind its leader.
std::optional<WatchCounts> ask_counts(Client& client, const AdminServers& admin_servers,
                                      std::int64_t least, std::string& why) {
  constexpr std::chrono::seconds patience{5};
  const auto deadline = Clock::now() + patience;
  while (true) {
    const auto counts =
        ask_watch_counts(client.server(), admin_servers, Clock::now() + patience, why);
    if (!counts || counts->fired >= least || Clock::now() >= deadline) return counts;
  }
}

/// The minimum that servers have counted if the contenders received `events`: a server counts one
/// event if several contenders of a session wait for the same change.
std::int64_t least_fired(const ContentionPlan& plan, std::size_t sessions, std::size_t events) {
  const bool each_its_own = plan.request.recipe == RecipeKind::Fair && !plan.request.read_write;
  const auto in_a_session = each_its_own ? 1 : (plan.contenders + sessions - 1) / sessions;
  return static_cast<std::int64_t>(events / in_a_session);
}

}  // namespace

ContentionTrial try_contention(const ContentionPlan& plan, const ContentionSessions& sessions,
                               const AdminServers& admin_servers, const ContentionReport& report,
                               const std::stop_token& stop) {
  auto& client = *sessions.clients().front();
  auto ids = sessions.ids();
  ContentionTrial trial{.title = std::string(name_of(recipe_names, plan.request.recipe))};
  const auto before = ask_counts(client, admin_servers, 0, trial.not_counted);
  trial.result = contend(plan, sessions.clients(), report, stop);
  if (trial.result.failure) std::rethrow_exception(trial.result.failure);
  trial.statistics = contention_statistics(trial.result);
  if (stop.stop_requested()) return trial;
  if (before) {
    const auto least =
        before->fired + least_fired(plan, sessions.clients().size(), trial.statistics.events);
    if (const auto after = ask_counts(client, admin_servers, least, trial.not_counted))
      trial.counted = between(*before, *after);
  }
  ids.merge(sessions.ids());  // a session may have been lost and replaced
  trial.znodes_left = znodes_left(client, plan.request.path(), ids, stop);
  return trial;
}

ContentionStatistics contention_statistics(const ContentionResult& result) {
  const auto held = turns_held(result);
  ContentionStatistics statistics{
      .acquisitions = held.size(),
      .lost = static_cast<std::size_t>(std::ranges::count(held, true, &ContenderTurn::lost)),
      .together = most_together(held),
      .events = result.events.size(),
      .events_at_once = most_events(result, held),
      .took = result.ended - result.began,
      .acquire = spread_of(
          mapped(held, [](const ContenderTurn& turn) { return turn.acquired - turn.asked; })),
      .handoff = handoffs(held)};
  std::vector<std::chrono::nanoseconds> release;
  for (const auto& turn : held)
    if (turn.released != not_yet) release.push_back(turn.released - turn.releasing);
  statistics.release = spread_of(std::move(release));
  find_overlaps(held, statistics);
  return statistics;
}

}  // namespace zksh
