// ContentionTrial: a contention with one recipe, measured from outside too.
#pragma once

#include "client/client.h"
#include "ensemble/admin_server.h"
#include "ensemble/watch_counts.h"
#include "lock/contention_statistics.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace zksh {

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
