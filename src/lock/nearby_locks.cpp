// NearbyLocks: reads locks and their siblings, to find deadlocks.
#include "lock/nearby_locks.h"

#include "client/node_path.h"
#include "lock/wait_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
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

namespace {

using namespace std::chrono_literals;

/// Most waits end sooner.
constexpr auto first_pause = 1s;
/// A deadlock may arise later, elsewhere.
constexpr Clock::duration longest_pause = 10s;

}  // namespace

CircleWatch::CircleWatch(Client& client, Guarded<OwnLocks>& locks, const LockReporter& reporter)
    : client_(client),
      monitor_(client.monitor()),
      locks_(locks),
      reporter_(reporter),
      fiber_(monitor_),
      nearby_(client, fiber_) {
  fiber_.begin(run());
}

/// Whether one lock waits and there is another that somebody may wait for. Called at every change.
bool CircleWatch::may_close(const Monitor::Held& held) const {
  std::size_t paths = 0;
  bool waits = false;
  for (const auto& lock : locks_(held)) {
    const auto stage = lock->stage(held);
    if (stage == LockStage::Gone) continue;
    paths += lock->paths().size();
    waits = waits || stage == LockStage::Waiting;
  }
  return waits && paths > 1;
}

/// Describes who waits behind whom; empty if no deadlock is possible.
std::string CircleWatch::waits(const Monitor::Held& held) const {
  std::string text;
  if (!may_close(held)) return text;
  for (const auto& lock : locks_(held))
    if (const auto& status = lock->status(held); status.stage == LockStage::Waiting)
      text += fmt::format("{} {}\n", lock->name(), status.place.predecessor_node);
  return text;
}

Task<> CircleWatch::run() {
  for (;;) {
    co_await fiber_.until([&](const Monitor::Held& held) { return may_close(held); });
    Clock::duration pause = first_pause;
    std::string looked_at;
    for (;;) {
      auto now = monitor_.with_lock([&](const Monitor::Held& held) { return waits(held); });
      if (now.empty()) break;
      pause = now == looked_at ? std::min(2 * pause, longest_pause) : first_pause;
      looked_at = std::move(now);
      const auto due = Clock::now() + pause;
      const bool changed = co_await fiber_.until(
          [&](const Monitor::Held& held) { return waits(held) != looked_at; }, due);
      if (changed || client_.current_state() != SessionState::Connected) continue;
      co_await look();
    }
  }
}

OwnLocks CircleWatch::locks() const {
  return monitor_.with_lock([&](const Monitor::Held& held) { return locks_(held); });
}

Task<> CircleWatch::look() {
  auto paths = paths_of(locks());
  const auto views = co_await nearby_.read(std::move(paths));
  const WaitGraph graph(views, occupied_nodes(locks()));
  const auto session = client_.session_id();
  for (const auto& lock : locks()) {
    std::optional<LockCircle> circle;
    for (const auto& path : lock->paths())
      if (!circle) circle = graph.circle(session, path);
    const bool another = monitor_.with_lock([&](const Monitor::Held& held) {
      auto& status = lock->status_(held);
      if (status.stage != LockStage::Waiting) circle.reset();
      return std::exchange(status.circle, circle) != circle;
    });
    if (another && circle) tell(*lock, *circle);
  }
}

void CircleWatch::tell(Lock& lock, const LockCircle& circle) const {
  if (!lock.plan().report.waiting) return;  // it must be quiet
  const auto leave = lock.plan().in_background() ? "unlock " + lock.name() : "Ctrl-C";
  std::string give_back;
  for (const auto& other : locks())
    if (other.get() != &lock && other->is_at(circle.links.back().path))
      give_back = ", or unlock " + other->name();
  reporter_.say(fmt::format("waiting {}: {}; to give up: {}{}", circle.links.front().path,
                            own_circle_text(circle), leave, give_back));
}

}  // namespace zksh
