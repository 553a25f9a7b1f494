// BootClock: time that goes on while the machine sleeps.
#pragma once

#include <chrono>
#include <ctime>

namespace zksh {

/// CLOCK_BOOTTIME. A server's clock does not stop when this machine is suspended, but steady_clock
/// does: what a session's end depends on is measured with this one.
struct BootClock {
  // The names are the standard's, for every clock.
  // NOLINTBEGIN(readability-identifier-naming)
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock>;
  // NOLINTEND(readability-identifier-naming)
  static constexpr bool is_steady = true;

  static time_point now() {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return time_point(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
  }
};

}  // namespace zksh
