// NearbyLocks: reads locks and their siblings, to find deadlocks.
#include "lock/nearby_locks.h"

#include "client/node_path.h"
#include "lock/wait_graph.h"

#include <algorithm>
#include <utility>

namespace zksh {
namespace {

/// A lock with a waiter has two contenders, or the two parts of a semaphore.
constexpr int fewest_children = 2;
/// A longer list would cost too much.
constexpr int most_children = 1000;

bool may_be_lock(const Outcome<Stat>& outcome) {
  const auto children = outcome.value.num_children;
  return outcome.code == code::ok && children >= fewest_children && children <= most_children;
}

/// Adds the nodes whose sessions are needed: each contender's first.
void add_nodes(const std::string& parent, const std::vector<std::string>& names,
               LockEntries& entries, std::vector<std::pair<std::string, LockEntry*>>& nodes) {
  if (order_needs_stats(names)) return;
  const auto queue = make_lock_queue(names);
  const auto count = std::min(queue.contenders.size(), WaitGraph::longest_queue);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& name = queue.contenders[i].nodes.front().text;
    nodes.emplace_back(join_path(parent, name), &entries[name]);
  }
}

}  // namespace

Task<std::vector<LockView>> NearbyLocks::read(std::set<std::string> paths) {
  auto all = co_await with_siblings(std::move(paths));
  auto readings = co_await list(std::move(all));
  co_await fetch_sessions(readings);
  std::vector<LockView> views;
  views.reserve(readings.size());
  for (const auto& reading : readings) views.push_back(make_lock_view(reading, {}, {}, 0));
  co_return views;
}

Task<std::set<std::string>> NearbyLocks::with_siblings(std::set<std::string> paths) {
  std::map<std::string, Pending<Stat>> parents;
  for (const auto& path : paths) {
    const std::string parent(parent_path(path));
    if (path == "/" || parents.contains(parent) || parents.size() == most_parents) continue;
    parents[parent] = client_.start_exists(parent, Watch::none());
  }
  std::map<std::string, Pending<Stat>> siblings;
  for (const auto& [parent, asked] : parents) {
    const auto stat = co_await fiber_.answer(asked);
    const auto count = static_cast<std::size_t>(std::max(stat.value.num_children, 0));
    if (stat.code != code::ok || count > most_siblings) continue;
    const auto listing = client_.start_children(parent, Watch::none());
    const auto listed = co_await fiber_.answer(listing);
    for (const auto& name : listed.value.names) {
      const auto path = join_path(parent, name);
      if (path == "/zookeeper" || paths.contains(path)) continue;
      siblings[path] = client_.start_exists(path, Watch::none());
    }
  }
  for (const auto& [path, asked] : siblings) {
    const auto stat = co_await fiber_.answer(asked);
    if (may_be_lock(stat)) paths.insert(path);
  }
  co_return paths;
}

Task<std::vector<LockReading>> NearbyLocks::list(std::set<std::string> paths) {
  struct Semaphore {
    std::size_t reading;
    Pending<Children> locks;
    Pending<Children> leases;
    Pending<Node> limit;
  };
  std::map<std::string, Pending<Children>> listings;
  for (const auto& path : paths) listings[path] = client_.start_children(path, Watch::none());
  std::vector<LockReading> readings;
  std::vector<Semaphore> semaphores;
  for (const auto& [path, asked] : listings) {
    auto listed = co_await fiber_.answer(asked);
    if (listed.code != code::ok || listed.value.names.size() < fewest_children) continue;
    auto& reading = readings.emplace_back();
    reading.path = path;
    reading.names = std::move(listed.value.names);
    if (!is_semaphore(reading.names)) continue;
    auto locks = client_.start_children(join_path(path, "locks"), Watch::none());
    auto leases = client_.start_children(join_path(path, "leases"), Watch::none());
    auto limit = client_.start_get(path, Watch::none());
    semaphores.push_back(
        {readings.size() - 1, std::move(locks), std::move(leases), std::move(limit)});
  }
  for (const auto& semaphore : semaphores) {
    auto locks = co_await fiber_.answer(semaphore.locks);
    auto leases = co_await fiber_.answer(semaphore.leases);
    const auto limit = co_await fiber_.answer(semaphore.limit);
    auto& reading = readings[semaphore.reading];
    reading.names = std::move(locks.value.names);
    reading.semaphore.emplace();
    reading.semaphore->leases = std::move(leases.value.names);
    if (limit.code == code::ok) reading.semaphore->limit = semaphore_limit(limit.value.data);
  }
  co_return readings;
}

Task<> NearbyLocks::fetch_sessions(std::vector<LockReading>& readings) {
  std::vector<std::pair<std::string, LockEntry*>> nodes;
  for (auto& reading : readings) {
    if (!reading.semaphore) {
      add_nodes(reading.path, reading.names, reading.entries, nodes);
      continue;
    }
    auto& semaphore = *reading.semaphore;
    add_nodes(join_path(reading.path, "locks"), reading.names, reading.entries, nodes);
    add_nodes(join_path(reading.path, "leases"), semaphore.leases, semaphore.entries, nodes);
  }
  nodes.resize(std::min(nodes.size(), most_contenders));
  std::map<std::string, std::int64_t> sessions;
  std::map<std::string, Pending<Stat>> unknown;
  for (const auto& [path, entry] : nodes) {
    if (const auto known = sessions_.find(path); known != sessions_.end())
      sessions.insert(*known);
    else
      unknown[path] = client_.start_exists(path, Watch::none());
  }
  for (const auto& [path, asked] : unknown) {
    const auto stat = co_await fiber_.answer(asked);
    if (stat.code == code::ok) sessions[path] = stat.value.ephemeral_owner;
  }
  for (const auto& [path, entry] : nodes)
    if (const auto found = sessions.find(path); found != sessions.end())
      entry->stat.ephemeral_owner = found->second;
  sessions_ = std::move(sessions);
}

}  // namespace zksh
