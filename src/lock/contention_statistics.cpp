// ContentionStatistics: what the turns of a contention come to: times, handoffs, overlaps.
#include "lock/contention_statistics.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>

namespace zksh {
namespace {

constexpr Clock::time_point not_yet{};
constexpr std::size_t overlaps_kept = 5;

/// The turns that held the lock, in the order in which they got it.
std::vector<ContenderTurn> turns_held(const ContentionResult& result) {
  std::vector<ContenderTurn> held;
  std::ranges::copy_if(result.turns, std::back_inserter(held),
                       [](const ContenderTurn& turn) { return turn.acquired != not_yet; });
  std::ranges::sort(held, {}, &ContenderTurn::acquired);
  for (auto& turn : held)
    if (turn.releasing == not_yet) turn.releasing = result.ended;
  return held;
}

/// Of two kinds of turns, the one that holds longest.
struct Latest {
  const ContenderTurn* writer = nullptr;
  const ContenderTurn* reader = nullptr;

  void note(const ContenderTurn& turn) {
    auto& latest = turn.mode == LockMode::Shared ? reader : writer;
    if (!latest || latest->releasing < turn.releasing) latest = &turn;
  }
  /// The one that must have released before this one may hold.
  const ContenderTurn* before(const ContenderTurn& turn) const {
    if (turn.mode == LockMode::Shared || !reader) return writer;
    return !writer || writer->releasing < reader->releasing ? reader : writer;
  }
};

void find_overlaps(const std::vector<ContenderTurn>& held, ContentionStatistics& statistics) {
  Latest latest;
  for (const auto& turn : held) {
    if (turn.lost) continue;  // told of as such
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

std::size_t most_together(const std::vector<ContenderTurn>& held) {
  std::vector<Clock::time_point> ends;
  ends.reserve(held.size());
  for (const auto& turn : held) ends.push_back(turn.releasing);
  std::ranges::sort(ends);
  std::size_t most = 0;
  std::size_t ended = 0;
  for (std::size_t begun = 1; begun <= held.size(); ++begun) {
    while (ends[ended] <= held[begun - 1].acquired && ended + 1 < begun) ++ended;
    most = std::max(most, begun - ended);
  }
  return most;
}

/// A release fires its events at once; they have all come before the next holder's release.
std::size_t most_events(const ContentionResult& result, const std::vector<ContenderTurn>& held) {
  std::vector<Clock::time_point> releases;
  releases.reserve(held.size());
  for (const auto& turn : held) releases.push_back(turn.releasing);
  std::ranges::sort(releases);
  std::map<std::ptrdiff_t, std::size_t> counts;
  std::size_t most = 0;
  for (const auto event : result.events) {
    const auto before = std::ranges::upper_bound(releases, event) - releases.begin();
    most = std::max(most, ++counts[before]);
  }
  return most;
}

}  // namespace

Spread spread_of(std::vector<std::chrono::nanoseconds> times) {
  if (times.empty()) return {};
  std::ranges::sort(times);
  const auto rank = [&](std::size_t percent) { return (times.size() * percent + 99) / 100 - 1; };
  return {.count = times.size(),
          .median = times[rank(50)],
          .p99 = times[rank(99)],
          .longest = times.back()};
}

ContentionStatistics contention_statistics(const ContentionResult& result) {
  const auto held = turns_held(result);
  ContentionStatistics statistics{
      .acquisitions = held.size(),
      .lost = static_cast<std::size_t>(std::ranges::count(held, true, &ContenderTurn::lost)),
      .unfinished = result.turns.size() - held.size(),
      .together = most_together(held),
      .events = result.events.size(),
      .events_at_once = most_events(result, held),
      .took = result.ended - result.began};
  std::vector<std::chrono::nanoseconds> acquire;
  std::vector<std::chrono::nanoseconds> release;
  acquire.reserve(held.size());
  release.reserve(held.size());
  for (const auto& turn : held) {
    acquire.push_back(turn.acquired - turn.asked);
    if (turn.released != not_yet) release.push_back(turn.released - turn.releasing);
  }
  statistics.acquire = spread_of(std::move(acquire));
  statistics.release = spread_of(std::move(release));
  statistics.handoff = handoffs(held);
  find_overlaps(held, statistics);
  return statistics;
}

}  // namespace zksh
