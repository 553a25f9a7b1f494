// Contention: many contenders for one lock in this process, and what happened to each of them.
#pragma once

#include "client/client.h"
#include "ensemble/admin_server.h"
#include "ensemble/watch_counts.h"
#include "recipes/make_recipe.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace zksh {

/// What the contenders do.
struct ContentionPlan {
  RecipeKind recipe = RecipeKind::Fair;
  /// What the writers ask for; readers ask for the same, shared.
  LockRequest request{};
  std::size_t contenders = 10;
  std::size_t readers = 0;  ///< so many of the contenders, spread evenly among the others
  std::size_t rounds = 1;   ///< how often each acquires the lock
  std::chrono::microseconds hold{0};
};

/// One acquisition. A time that has not come is Clock::time_point{}.
struct ContenderTurn {
  std::size_t contender = 0;
  LockMode mode = LockMode::Exclusive;
  Clock::time_point asked{};      ///< before acquire was called
  Clock::time_point acquired{};   ///< after it returned
  Clock::time_point releasing{};  ///< before release was called
  Clock::time_point released{};   ///< after it returned
  bool lost = false;              ///< its release found that the lock was gone
};

/// Who hears of what the contenders do; each may be empty. Called on the thread of `contend`.
struct ContentionReport {
  std::function<void(std::size_t contender, const std::string& text)> step{};
  std::function<void(std::size_t contender, const std::string& text)> warning{};
};

struct ContentionResult {
  std::vector<ContenderTurn> turns;  ///< also those that did not come to their end
  Clock::time_point began{};
  Clock::time_point ended{};
  std::size_t requests = 0;               ///< that the recipes sent
  std::vector<Clock::time_point> events;  ///< when the recipes received those of watches
  /// Of the contender that failed first; the others left the queue then.
  std::exception_ptr failure{};
};

/// Runs all contenders, on this thread and those of the clients, until the last one is done;
/// contender i has the session of clients[i mod the number of them], which must be connected. A
/// stop, or the failure of a contender, makes all leave the queue, and release what they hold,
/// before this returns.
ContentionResult contend(const ContentionPlan& plan, const std::vector<Client*>& clients,
                         const ContentionReport& report, const std::stop_token& stop);

struct DrawingStyle {
  std::size_t columns = 80;
  std::size_t rows = 20;  ///< for contenders; of more, some are left out, evenly
  bool ascii = false;     ///< the terminal has no UTF-8
};

/// A row for each contender, a scale, and what the signs mean; lines no wider than the columns.
std::vector<std::string> draw_contention(const ContentionResult& result, std::size_t contenders,
                                         const DrawingStyle& style);

/// How long something took, of all the times it was done. All 0 when it never was.
struct Spread {
  std::size_t count = 0;
  std::chrono::nanoseconds median{0};
  std::chrono::nanoseconds p99{0};  ///< nearest rank: 99 of a hundred took no longer
  std::chrono::nanoseconds longest{0};
};
/// `times` in any order.
Spread spread_of(std::vector<std::chrono::nanoseconds> times);

struct ContentionStatistics {
  std::size_t acquisitions = 0;    ///< the lock was held
  std::size_t lost = 0;            ///< of them, those that somebody else may have had too
  std::size_t unfinished = 0;      ///< asked for, and given up
  std::size_t together = 0;        ///< the most that held at once
  std::size_t events = 0;          ///< of watches
  std::size_t events_at_once = 0;  ///< the most between two releases
  std::chrono::nanoseconds took{0};
  Spread acquire{};  ///< from asking until holding, the wait included
  Spread release{};
  /// From the call that releases until the next contender holds, which had asked by then.
  Spread handoff{};
  /// Two that held together although one of them excludes the other: the first few, and how many
  /// there are. A turn that was lost does not count.
  std::vector<std::pair<ContenderTurn, ContenderTurn>> overlaps{};
  std::size_t overlap_count = 0;
};

/// `turns` in any order; those without an end are taken into account as far as they went.
ContentionStatistics contention_statistics(const ContentionResult& result);

/// The shell's own session and further ones, which are closed at the end.
class ContentionSessions {
 public:
  /// Blocks until all of them are connected. Throws ZkError when there is no server, Error when the
  /// servers take fewer sessions than `count`, Cancelled on a stop.
  ContentionSessions(Client& own, std::size_t count, const std::stop_token& stop);
  ContentionSessions(const ContentionSessions&) = delete;
  ContentionSessions& operator=(const ContentionSessions&) = delete;
  /// Closes the further ones, all at the same time; takes 3 s at most.
  ~ContentionSessions();

  const std::vector<Client*>& clients() const { return clients_; }
  /// Their ids, those of expired ones left out.
  std::set<std::int64_t> ids() const;

 private:
  void open(std::size_t count);
  void await_all(const std::stop_token& stop);
  void authenticate(const std::stop_token& stop);
  void close();

  Client& own_;
  std::vector<std::unique_ptr<Client>> further_;
  std::vector<Client*> clients_;  ///< the own one first
};

/// One contention and all that is known of it.
struct ContentionSummary {
  std::string title{};  ///< of its columns: the recipe
  ContentionStatistics statistics{};
  std::size_t requests = 0;
  std::optional<WatchCountsBetween> counted{};  ///< by the servers
  std::size_t znodes_left = 0;
};

/// At most two fit 80 columns.
std::vector<std::string> contention_table(const std::vector<ContentionSummary>& summaries);

/// The same for programs: a name and a figure for each contention, separated by tabs; times in
/// microseconds, "-" for what is not known.
std::vector<std::string> contention_figures(const std::vector<ContentionSummary>& summaries);

/// The same figures as an object of JSON, on one line; null for what is not known.
std::string contention_json(const ContentionSummary& summary);

/// How much more the second one costs, in a sentence; empty when there is nothing to compare.
std::string compared(const ContentionSummary& first, const ContentionSummary& second);

struct ContentionTrial {
  ContentionResult result;
  ContentionSummary summary;
  std::string not_counted;  ///< why the servers did not say how many events there were, or empty
};

/// Runs a contention, asks the servers before and after it how many watches they fired, and looks
/// for what it left behind. Blocks. After a stop there is only what the contenders know. Throws
/// what made a contender fail.
ContentionTrial try_contention(const std::string& title, const ContentionPlan& plan,
                               const ContentionSessions& sessions,
                               const AdminServers& admin_servers, const ContentionReport& report,
                               const std::stop_token& stop);

}  // namespace zksh
