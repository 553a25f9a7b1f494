// WaitGraph: which sessions wait for which at locks, and the deadlocks among them; NearbyLocks
// reads what it considers.
#include "lock/wait_graph.h"

#include "base/mapped.h"
#include "client/client.h"
#include "client/node_path.h"

#include <algorithm>
#include <deque>
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
void add_nodes(const std::string& parent, QueueNodes& children,
               std::vector<std::pair<std::string, QueueNode*>>& nodes) {
  if (order_needs_stats(children.names)) return;
  const auto queue = make_lock_queue(children.names);
  const auto count = std::min(queue.contenders.size(), WaitGraph::longest_queue);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& name = queue.contenders[i].nodes.front().text;
    nodes.emplace_back(join_path(parent, name), &children.entries[name]);
  }
}

}  // namespace

WaitGraph::WaitGraph(const std::vector<LockView>& locks, const std::set<std::string>& passing) {
  for (const auto& view : locks) add(view, passing);
  settle();
}

void WaitGraph::add(const LockView& view, const std::set<std::string>& passing) {
  const auto count = std::min(view.seats.size(), longest_queue);
  const auto stays = [&](const Seat& seat) {
    return passing.empty() || !passing.contains(node_of(view, seat));
  };
  for (std::size_t i = 0; i < count; ++i) {
    const auto& seat = view.seats[i];
    const bool for_lease = seat.state == SeatState::Next;
    if (seat.session == 0 || (seat.state != SeatState::Waits && !for_lease)) continue;
    Wait wait{.path = view.path, .blockers = {}};
    std::size_t leases = 0;
    for (std::size_t j = 0; j < i; ++j) {
      const auto& before = view.seats[j];
      const bool blocks =
          for_lease ? before.lease : !before.lease && before.contender.excludes(seat.contender);
      if (!blocks) continue;
      ++leases;
      if (stays(before))
        wait.blockers.push_back(
            {.session = before.session, .holds = before.state == SeatState::Holds});
    }
    if (for_lease) {
      if (!view.limit) continue;  // a contender may be let in any time
      wait.stuck_when = static_cast<std::size_t>(std::max<std::int64_t>(*view.limit, 1));
      if (leases < wait.stuck_when) continue;
    } else {
      // Its session's other contenders wait themselves, or hold what its own commands will give
      // back.
      std::erase_if(wait.blockers,
                    [&](const Blocker& blocker) { return blocker.session == seat.session; });
    }
    waits_[seat.session].push_back(std::move(wait));
  }
}

bool WaitGraph::is_stuck(const Wait& wait) const {
  const auto stuck = std::ranges::count_if(
      wait.blockers, [&](const Blocker& blocker) { return waits_.contains(blocker.session); });
  return static_cast<std::size_t>(stuck) >= wait.stuck_when;
}

/// Removes sessions that can go on, until all that are left wait for each other.
void WaitGraph::settle() {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto session = waits_.begin(); session != waits_.end();) {
      std::erase_if(session->second, [&](const Wait& wait) { return !is_stuck(wait); });
      const bool goes_on = session->second.empty();
      changed = changed || goes_on;
      session = goes_on ? waits_.erase(session) : std::next(session);
    }
  }
}

std::optional<Deadlock> WaitGraph::deadlock(std::int64_t session, const std::string& path) const {
  // By session reached: the link that leads to it.
  std::map<std::int64_t, Deadlock::Link> ways;
  std::deque<std::int64_t> open;
  const auto go_from = [&](std::int64_t from, const Wait& wait) {
    for (const auto& blocker : wait.blockers) {
      if (!waits_.contains(blocker.session) || ways.contains(blocker.session)) continue;
      ways[blocker.session] = {.session = from, .path = wait.path, .held = blocker.holds};
      open.push_back(blocker.session);
    }
  };
  const auto first = waits_.find(session);
  if (first == waits_.end()) return std::nullopt;
  for (const auto& wait : first->second)
    if (wait.path == path) go_from(session, wait);
  // It may hold a lease of a full semaphore itself.
  ways.erase(session);
  while (!open.empty()) {
    const auto now = std::exchange(open.front(), 0);
    open.pop_front();
    if (now == session) continue;
    for (const auto& wait : waits_.at(now)) go_from(now, wait);
    if (!ways.contains(session)) continue;
    Deadlock deadlock;
    for (auto at = session; deadlock.links.empty() || at != session; at = ways.at(at).session)
      deadlock.links.push_back(ways.at(at));
    std::ranges::reverse(deadlock.links);
    return deadlock;
  }
  return std::nullopt;
}

std::vector<Deadlock> WaitGraph::deadlocks(const std::string& path) const {
  std::vector<Deadlock> found;
  std::set<std::set<std::int64_t>> known;
  for (const auto& [session, waits] : waits_) {
    auto one = deadlock(session, path);
    if (!one) continue;
    std::set<std::int64_t> sessions;
    for (const auto& link : one->links) sessions.insert(link.session);
    if (!known.insert(sessions).second) continue;
    auto& links = one->links;
    const auto lowest = std::ranges::min_element(links, {}, &Deadlock::Link::session);
    std::rotate(links.begin(), lowest, links.end());
    found.push_back(std::move(*one));
  }
  return found;
}

Task<std::vector<LockView>> NearbyLocks::read(std::set<std::string> paths) {
  auto all = co_await with_siblings(std::move(paths));
  auto readings = co_await list(std::move(all));
  co_await fetch_sessions(readings);
  co_return mapped(readings, [](const QueueReading& reading) { return make_lock_view(reading); });
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
    for (const auto& name : listed.value.names.strings()) {
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

Task<std::vector<QueueReading>> NearbyLocks::list(std::set<std::string> paths) {
  struct Semaphore {
    std::size_t reading;
    Pending<Children> locks;
    Pending<Children> leases;
    Pending<Node> limit;
  };
  std::map<std::string, Pending<Children>> listings;
  for (const auto& path : paths) listings[path] = client_.start_children(path, Watch::none());
  std::vector<QueueReading> readings;
  std::vector<Semaphore> semaphores;
  for (const auto& [path, asked] : listings) {
    const auto listed = co_await fiber_.answer(asked);
    if (listed.code != code::ok || listed.value.names.size() < fewest_children) continue;
    auto& reading = readings.emplace_back();
    reading.path = path;
    reading.queue.names = listed.value.names.strings();
    if (!is_semaphore(reading.queue.names)) continue;
    auto locks = client_.start_children(join_path(path, "locks"), Watch::none());
    auto leases = client_.start_children(join_path(path, "leases"), Watch::none());
    auto limit = client_.start_get(path, Watch::none());
    semaphores.push_back(
        {readings.size() - 1, std::move(locks), std::move(leases), std::move(limit)});
  }
  for (const auto& semaphore : semaphores) {
    const auto locks = co_await fiber_.answer(semaphore.locks);
    const auto leases = co_await fiber_.answer(semaphore.leases);
    const auto limit = co_await fiber_.answer(semaphore.limit);
    auto& reading = readings[semaphore.reading];
    reading.queue.names = locks.value.names.strings();
    reading.leases.emplace().names = leases.value.names.strings();
    if (limit.code == code::ok) reading.limit = semaphore_limit(limit.value.data);
  }
  co_return readings;
}

Task<> NearbyLocks::fetch_sessions(std::vector<QueueReading>& readings) {
  std::vector<std::pair<std::string, QueueNode*>> nodes;
  for (auto& reading : readings) {
    add_nodes(reading.leases ? join_path(reading.path, "locks") : reading.path, reading.queue,
              nodes);
    if (reading.leases) add_nodes(join_path(reading.path, "leases"), *reading.leases, nodes);
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
