// Spread: the median, the 99th percentile and the maximum of durations.
#include "base/spread.h"

#include <algorithm>

namespace zksh {

Spread spread_of(std::vector<std::chrono::nanoseconds> times) {
  if (times.empty()) return {};
  std::ranges::sort(times);
  const auto rank = [&](std::size_t percent) { return (times.size() * percent + 99) / 100 - 1; };
  return {.count = times.size(),
          .median = times[rank(50)],
          .p99 = times[rank(99)],
          .longest = times.back()};
}

}  // namespace zksh
