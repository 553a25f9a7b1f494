// WaitGraph: which sessions wait for which at locks, and the deadlocks among them.
#include "lock/wait_graph.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace zksh {
namespace {

bool excludes(const LockSeat& one, const LockSeat& other) {
  return one.contender.mode == LockMode::Exclusive || other.contender.mode == LockMode::Exclusive;
}

}  // namespace

WaitGraph::WaitGraph(const std::vector<LockView>& locks, const std::set<std::string>& passing) {
  for (const auto& view : locks) add(view, passing);
  settle();
}

void WaitGraph::add(const LockView& view, const std::set<std::string>& passing) {
  const auto count = std::min(view.seats.size(), longest_queue);
  const auto stays = [&](const LockSeat& seat) {
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
      const bool blocks = for_lease ? before.lease : !before.lease && excludes(before, seat);
      if (!blocks) continue;
      ++leases;
      if (stays(before))
        wait.blockers.push_back(
            {.session = before.session, .holds = before.state == SeatState::Holds});
    }
    if (for_lease) {
      // Without a fixed number of leases, a contender may be let in any time.
      if (!view.limit || leases < static_cast<std::size_t>(std::max<std::int64_t>(*view.limit, 1)))
        continue;
      wait.stuck_when = static_cast<std::size_t>(std::max<std::int64_t>(*view.limit, 1));
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

std::optional<LockCircle> WaitGraph::circle(std::int64_t session, const std::string& path) const {
  // By session reached: the link that leads to it.
  std::map<std::int64_t, LockCircle::Link> ways;
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
    LockCircle circle;
    for (auto at = session; circle.links.empty() || at != session; at = ways.at(at).session)
      circle.links.push_back(ways.at(at));
    std::ranges::reverse(circle.links);
    return circle;
  }
  return std::nullopt;
}

std::vector<LockCircle> WaitGraph::circles(const std::string& path) const {
  std::vector<LockCircle> found;
  std::set<std::set<std::int64_t>> known;
  for (const auto& [session, waits] : waits_) {
    auto one = circle(session, path);
    if (!one) continue;
    std::set<std::int64_t> sessions;
    for (const auto& link : one->links) sessions.insert(link.session);
    if (!known.insert(sessions).second) continue;
    auto& links = one->links;
    const auto lowest = std::ranges::min_element(links, {}, &LockCircle::Link::session);
    std::rotate(links.begin(), lowest, links.end());
    found.push_back(std::move(*one));
  }
  return found;
}

}  // namespace zksh
