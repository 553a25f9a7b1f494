// ContentionTrial: a contention with one recipe, measured from outside too.
#include "lock/contention_trial.h"

#include "client/node_path.h"

#include <chrono>

namespace zksh {
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
