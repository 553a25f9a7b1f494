// Work limits: the rate limit.
#include "client/work_limits.h"

#include "base/error.h"

#include <algorithm>
#include <chrono>

namespace zksh {

void Pace::take(std::size_t count, const std::stop_token& stop) {
  using namespace std::chrono_literals;
  if (rate_ == 0) return;
  const auto now = Clock::now();
  next_ = std::max(next_, now - 100ms);
  if (next_ > now) {
    client_.monitor().sleep_until(stop, next_);
    if (stop.stop_requested()) throw Cancelled();
  }
  next_ += std::chrono::nanoseconds(
      static_cast<std::int64_t>(static_cast<double>(count) * 1e9 / static_cast<double>(rate_)));
}

}  // namespace zksh
