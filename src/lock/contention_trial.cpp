// ContentionTrial: a contention with one recipe, measured from outside too.
#include "lock/contention_trial.h"

#include "base/json.h"
#include "base/time.h"
#include "client/node_path.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <system_error>
#include <thread>

namespace zksh {
namespace {

/// How long a further session may take to be connected when others are.
constexpr std::chrono::seconds most_of_a_wait{5};

}  // namespace

ContentionSessions::ContentionSessions(Client& own, std::size_t count, const std::stop_token& stop)
    : own_(own) {
  own_.await_connection("/", stop);
  clients_.push_back(&own_);
  try {
    open(count);
    await_all(stop);
    authenticate(stop);
  } catch (...) {  // thrown on when the others are closed
    close();
    throw;
  }
}

ContentionSessions::~ContentionSessions() { close(); }

/// They connect at the same time.
void ContentionSessions::open(std::size_t count) {
  clients_.reserve(count);
  further_.reserve(count);
  while (clients_.size() < count) {
    auto& client = *further_.emplace_back(own_.another());
    clients_.push_back(&client);
    client.open(own_.server());
  }
}

void ContentionSessions::await_all(const std::stop_token& stop) {
  auto& monitor = own_.monitor();
  const auto connected = [&](const Monitor::Held& held) {
    return static_cast<std::size_t>(std::ranges::count_if(
        clients_, [&](Client* client) { return is_connected(client->state(held)); }));
  };
  std::size_t so_far = 0;
  while (so_far < clients_.size()) {
    // As long as one after the other comes, the rest is waited for.
    const bool more =
        monitor.wait_until(stop, Clock::now() + most_of_a_wait,
                           [&](const Monitor::Held& held) { return connected(held) > so_far; });
    if (stop.stop_requested()) throw Cancelled();
    so_far = monitor.with_lock(connected);
    if (!more)
      throw Error(fmt::format("only {} of {} sessions were let in: a server takes maxClientCnxns "
                              "connections from one address, 60 unless it is configured otherwise "
                              "(--sessions asks for fewer)",
                              so_far, clients_.size()),
                  status::server_refused);
  }
}

/// The further ones may do what the own one may.
void ContentionSessions::authenticate(const std::stop_token& stop) {
  const auto credentials = own_.credentials();
  for (const auto& client : further_)
    for (const auto& [scheme, secret] : credentials) client->add_auth(scheme, secret, stop);
}

std::set<std::int64_t> ContentionSessions::ids() const {
  std::set<std::int64_t> ids;
  for (auto* client : clients_) ids.insert(client->session_id());
  return ids;
}

void ContentionSessions::close() {
  std::vector<std::jthread> threads;
  threads.reserve(further_.size());
  for (const auto& client : further_) {
    try {
      threads.emplace_back([&client] { client->close(); });
    } catch (const std::system_error&) {  // no thread is left for it
      client->close();
    }
  }
  threads.clear();
  further_.clear();
}

namespace {

/// A figure of which there is one.
struct Row {
  std::string name;
  std::string key;  ///< for programs
  std::function<std::string(const ContentionSummary&)> figure;
};

/// Times, of which three figures are told.
struct SpreadRow {
  std::string name;
  std::string key;
  Spread ContentionStatistics::*spread;
};

const std::vector<SpreadRow>& spread_rows() {
  static const std::vector<SpreadRow> rows{
      {"handoff", "handoff", &ContentionStatistics::handoff},
      {"acquire, with the wait", "acquire", &ContentionStatistics::acquire},
      {"release", "release", &ContentionStatistics::release}};
  return rows;
}

std::int64_t fired(const ContentionSummary& summary) {
  return summary.counted ? summary.counted->fired
                         : static_cast<std::int64_t>(summary.statistics.events);
}

std::string per_acquisition(const ContentionSummary& summary, std::int64_t count) {
  const auto acquisitions = static_cast<double>(summary.statistics.acquisitions);
  return acquisitions == 0 ? "-" : fmt::format("{:.2f}", static_cast<double>(count) / acquisitions);
}

const std::vector<Row>& count_rows() {
  using Summary = ContentionSummary;
  static const std::vector<Row> rows{
      {"acquisitions", "acquisitions",
       [](const Summary& of) { return std::to_string(of.statistics.acquisitions); }},
      {"  at the same time", "together",
       [](const Summary& of) { return std::to_string(of.statistics.together); }},
      {"requests per acquisition", "requests_per_acquisition",
       [](const Summary& of) {
         return per_acquisition(of, static_cast<std::int64_t>(of.requests));
       }},
      {"watch events fired", "events", [](const Summary& of) { return std::to_string(fired(of)); }},
      {"  per release", "events_per_release",
       [](const Summary& of) { return per_acquisition(of, fired(of)); }},
      {"  by one release", "events_by_one_release",
       [](const Summary& of) {
         return of.counted && of.counted->most ? std::to_string(*of.counted->most)
                                               : std::to_string(of.statistics.events_at_once);
       }},
      {"znodes left", "znodes_left",
       [](const Summary& of) { return std::to_string(of.znodes_left); }},
      {"watches left", "watches_left",
       [](const Summary& of) { return of.counted ? std::to_string(of.counted->left) : "-"; }}};
  return rows;
}

std::string microseconds(std::chrono::nanoseconds time) {
  return fmt::format("{:.1f}", static_cast<double>(time.count()) / 1e3);
}

/// The lines of a table: a name, and three figures for each contention.
class Lines {
 public:
  explicit Lines(const std::vector<ContentionSummary>& summaries) : summaries_(summaries) {}

  /// `figures(summary)`: three of them.
  template <class Figures>
  void add(const std::string& name, Figures&& figures) {
    auto line = fmt::format("{:<24}", name);
    for (const auto& summary : summaries_)
      for (const std::string& figure : figures(summary)) line += fmt::format("{:>9}", figure);
    line.erase(line.find_last_not_of(' ') + 1);
    lines_.push_back(std::move(line));
  }
  std::vector<std::string> take() { return std::move(lines_); }

 private:
  const std::vector<ContentionSummary>& summaries_;
  std::vector<std::string> lines_;
};

using Three = std::array<std::string, 3>;

}  // namespace

std::vector<std::string> contention_table(const std::vector<ContentionSummary>& summaries) {
  Lines lines(summaries);
  lines.add("", [](const ContentionSummary& of) { return Three{of.title, "", ""}; });
  const bool together = std::ranges::any_of(
      summaries, [](const ContentionSummary& of) { return of.statistics.together > 1; });
  for (const auto& row : count_rows())
    if (together || row.key != "together")
      lines.add(row.name, [&](const ContentionSummary& of) {
        return Three{row.figure(of), "", ""};
      });
  lines.add("took", [](const ContentionSummary& of) {
    return Three{short_time(of.statistics.took), "", ""};
  });
  lines.add("", [](const ContentionSummary&) { return Three{"median", "99 %", "longest"}; });
  for (const auto& row : spread_rows())
    lines.add(row.name, [&](const ContentionSummary& of) {
      const auto& spread = of.statistics.*row.spread;
      if (spread.count == 0) return Three{"-", "-", "-"};
      return Three{short_time(spread.median), short_time(spread.p99), short_time(spread.longest)};
    });
  return lines.take();
}

std::vector<std::string> contention_figures(const std::vector<ContentionSummary>& summaries) {
  std::vector<std::string> lines;
  const auto add = [&](std::string line, const auto& figure) {
    for (const auto& summary : summaries) line += '\t' + figure(summary);
    lines.push_back(std::move(line));
  };
  add("recipe", [](const ContentionSummary& of) { return of.title; });
  for (const auto& row : count_rows()) add(row.key, row.figure);
  add("took_us", [](const ContentionSummary& of) { return microseconds(of.statistics.took); });
  for (const auto& row : spread_rows())
    for (const auto& [suffix, part] :
         {std::pair{"_median_us", &Spread::median}, std::pair{"_p99_us", &Spread::p99},
          std::pair{"_longest_us", &Spread::longest}})
      add(row.key + suffix, [&, part = part](const ContentionSummary& of) {
        const auto& spread = of.statistics.*row.spread;
        return spread.count == 0 ? "-" : microseconds(spread.*part);
      });
  return lines;
}

std::string contention_json(const ContentionSummary& summary) {
  std::string text;
  for (const auto& line : contention_figures({summary})) {
    const auto tab = line.find('\t');
    const auto key = line.substr(0, tab);
    const auto figure = line.substr(tab + 1);
    const auto value = key == "recipe" ? Json(figure).text() : figure == "-" ? "null" : figure;
    text += fmt::format("{}\"{}\":{}", text.empty() ? "" : ",", key, value);
  }
  return '{' + text + '}';
}

std::string compared(const ContentionSummary& first, const ContentionSummary& second) {
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

/// How many nodes of these sessions are below the lock.
std::size_t znodes_left(Client& client, const std::string& path, const std::set<std::int64_t>& ids,
                        const std::stop_token& stop) {
  std::size_t left = 0;
  try {
    client.await_connection(path, stop);  // the session may have been lost meanwhile
    for (const auto& name : client.children(path, Watch::none(), stop).names) {
      const auto stat = client.exists(join_path(path, name), Watch::none(), stop);
      if (stat && ids.contains(stat->ephemeral_owner)) ++left;
    }
  } catch (const ZkError& error) {
    if (error.code() != code::no_node) throw;
  }
  return left;
}

/// A follower may be behind its leader: `least` have been heard of.
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

/// A server counts one event where several contenders of a session wait for the same change: at
/// least so many, when the contenders have received `events`.
std::int64_t least_fired(const ContentionPlan& plan, std::size_t sessions, std::size_t events) {
  const bool each_its_own = plan.recipe == RecipeKind::Fair && !plan.request.read_write;
  const auto in_a_session = each_its_own ? 1 : (plan.contenders + sessions - 1) / sessions;
  return static_cast<std::int64_t>(events / in_a_session);
}

}  // namespace

ContentionTrial try_contention(const std::string& title, const ContentionPlan& plan,
                               const ContentionSessions& sessions,
                               const AdminServers& admin_servers, const ContentionReport& report,
                               const std::stop_token& stop) {
  auto& client = *sessions.clients().front();
  auto ids = sessions.ids();
  ContentionTrial trial;
  const auto before = ask_counts(client, admin_servers, 0, trial.not_counted);
  trial.result = contend(plan, sessions.clients(), report, stop);
  if (trial.result.failure) std::rethrow_exception(trial.result.failure);
  auto& summary = trial.summary;
  summary = {.title = title,
             .statistics = contention_statistics(trial.result),
             .requests = trial.result.requests};
  if (stop.stop_requested()) return trial;
  if (before) {
    const auto least =
        before->fired + least_fired(plan, sessions.clients().size(), summary.statistics.events);
    if (const auto after = ask_counts(client, admin_servers, least, trial.not_counted))
      summary.counted = between(*before, *after);
  }
  ids.merge(sessions.ids());  // a session may have been lost, and replaced
  summary.znodes_left = znodes_left(client, plan.request.path, ids, stop);
  return trial;
}

}  // namespace zksh
