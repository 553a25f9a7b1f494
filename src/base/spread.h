// Spread: the median, the 99th percentile and the maximum of durations.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace zksh {

/// The distribution of durations. All 0 if there are none.
struct Spread {
  std::size_t count = 0;
  std::chrono::nanoseconds median{0};
  std::chrono::nanoseconds p99{0};  ///< nearest rank: 99 of 100 took no longer
  std::chrono::nanoseconds longest{0};
};
/// `times` may be in any order.
Spread spread_of(std::vector<std::chrono::nanoseconds> times);

}  // namespace zksh
