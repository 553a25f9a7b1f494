// ContentionStatistics: what the turns of a contention come to: times, handoffs, overlaps.
#pragma once

#include "lock/contention.h"

#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

namespace zksh {

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

}  // namespace zksh
