// Contention: runs many contenders for a lock in this process, and analyses what happened.
#pragma once

#include "base/time.h"
#include "ensemble/admin_server.h"
#include "ensemble/server_poller.h"
#include "recipes/recipe.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace zksh {

class Client;

/// What the contenders do.
struct ContentionPlan {
  /// The writers' request; the readers' is the same, shared.
  LockRequest request{};
  std::size_t contenders = 10;
  std::size_t readers = 0;  ///< number of readers, spread evenly among the contenders
  std::size_t rounds = 1;   ///< how often each acquires the lock
  std::chrono::microseconds hold{0};
  /// The longest time without an acquisition or a release, in addition to `hold`.
  std::chrono::milliseconds patience{60000};
  /// How long to wait for the next one to leave the queue, if the servers do not answer.
  std::chrono::milliseconds leave_patience{3000};
};

/// One acquisition. Times not reached are Clock::time_point{}.
struct ContenderTurn {
  std::size_t contender = 0;
  LockMode mode = LockMode::Exclusive;
  Clock::time_point asked{};      ///< before acquire was called
  Clock::time_point acquired{};   ///< after it returned
  Clock::time_point releasing{};  ///< before release was called
  Clock::time_point released{};   ///< after it returned
  bool lost = false;              ///< release found that the lock had been lost
};

/// Callbacks, each of which may be empty. Called on the thread of `contend`.
struct ContentionReport {
  std::function<void(std::size_t contender, const std::string& text)> step{};
  std::function<void(std::size_t contender, const std::string& text)> warning{};
};

struct ContentionResult {
  std::vector<ContenderTurn> turns;  ///< including unfinished ones
  Clock::time_point began{};
  Clock::time_point ended{};
  std::size_t requests = 0;               ///< number sent by the recipes
  std::vector<Clock::time_point> events;  ///< when the recipes received watch events
  /// From the contender that failed first; the others then left the queue.
  std::exception_ptr failure{};
  std::size_t left_behind = 0;  ///< contenders whose nodes could not be deleted
};

/// Runs all contenders, on this thread and the clients' threads, until the last one is done.
/// Contender i uses the session of clients[i mod their number]; the clients must be connected. On a
/// stop, if a contender fails, or if nobody acquires or releases the lock for `patience`
/// (LockBusy), all leave the queue and release what they hold before this returns, unless no server
/// answers.
ContentionResult contend(const ContentionPlan& plan, const std::vector<Client*>& clients,
                         const ContentionReport& report, const std::stop_token& stop);

/// Whether all contenders have left the queue, in words.
std::string how_left(const ContentionResult& result);

struct DrawingStyle {
  std::size_t columns = 80;
  std::size_t rows = 20;  ///< for contenders; if there are more, some are left out, evenly
  bool ascii = false;     ///< use ASCII only
};

/// A row for each contender, a scale and a legend, at most `columns` wide.
std::vector<std::string> draw_contention(const ContentionResult& result, std::size_t contenders,
                                         const DrawingStyle& style);

struct ContentionStatistics {
  std::size_t acquisitions = 0;    ///< turns that held the lock
  std::size_t lost = 0;            ///< of these, those in which somebody else may have held it too
  std::size_t together = 0;        ///< the most that held it at the same time
  std::size_t events = 0;          ///< watch events
  std::size_t events_at_once = 0;  ///< the most between two releases
  std::chrono::nanoseconds took{0};
  Spread acquire{};  ///< from the request until holding, including the wait
  Spread release{};
  /// From the call of release until the next contender, already waiting, holds the lock.
  Spread handoff{};
  /// Pairs that held the lock together although they exclude each other: the first few, and their
  /// number. Lost turns do not count.
  std::vector<std::pair<ContenderTurn, ContenderTurn>> overlaps{};
  std::size_t overlap_count = 0;
};

/// `turns` may be in any order; unfinished ones count as far as they got.
ContentionStatistics contention_statistics(const ContentionResult& result);

/// The shell's own session and additional ones, which are closed at the end.
class ContentionSessions {
 public:
  /// Blocks until all are connected. Throws ZkError if there is no server, Error if the servers
  /// accept fewer than `count` sessions, Cancelled on a stop.
  ContentionSessions(Client& own, std::size_t count, const std::stop_token& stop);
  ContentionSessions(const ContentionSessions&) = delete;
  ContentionSessions& operator=(const ContentionSessions&) = delete;
  /// Closes the additional sessions, all at once; takes at most 3 s.
  ~ContentionSessions();

  const std::vector<Client*>& clients() const { return clients_; }
  /// The ids of the sessions, without expired ones.
  std::set<std::int64_t> ids() const;

 private:
  explicit ContentionSessions(Client& own);
  void await_all(const std::stop_token& stop);

  Client& own_;
  std::vector<std::unique_ptr<Client>> further_;
  std::vector<Client*> clients_;  ///< the shell's own first
};

/// A contention, analysed.
struct ContentionTrial {
  std::string title{};  ///< of its columns: the recipe
  ContentionResult result{};
  ContentionStatistics statistics{};
  std::optional<WatchCountsBetween> counted{};  ///< by the servers
  std::string not_counted{};                    ///< why `counted` is not known; else empty
  std::size_t znodes_left = 0;
};

/// A table; up to two contentions fit in 80 columns.
std::vector<std::string> contention_table(std::span<const ContentionTrial> trials);

/// The same for programs: a name and a figure per contention, separated by tabs; times in
/// microseconds, "-" if not known.
std::vector<std::string> contention_figures(std::span<const ContentionTrial> trials);

/// The same figures as a JSON object on one line; null if not known.
std::string contention_json(const ContentionTrial& trial);

/// A sentence that says how much more the second costs; empty if there is nothing to compare.
std::string compared(const ContentionTrial& first, const ContentionTrial& second);

/// Runs a contention, asks the servers before and after for their watch counts, and looks for nodes
/// left behind. Blocks. After a stop, only the contenders' own results are there. Throws the error
/// of a contender that failed.
ContentionTrial try_contention(const ContentionPlan& plan, const ContentionSessions& sessions,
                               const AdminServers& admin_servers, const ContentionReport& report,
                               const std::stop_token& stop);

}  // namespace zksh
