// Time: the clock for leases, and durations and times as users read and write them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// CLOCK_BOOTTIME. Unlike steady_clock, it goes on while this machine is suspended, as a server's
/// clock does. A session's end is measured with it.
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

/// The same moment on the clock for waits, which does not count the time while the machine is
/// suspended. If called again after a suspension, it gives an earlier one.
inline std::chrono::steady_clock::time_point wait_until(BootClock::time_point time) {
  using Waiting = std::chrono::steady_clock;
  if (time == BootClock::time_point::max()) return Waiting::time_point::max();
  return Waiting::now() + std::chrono::duration_cast<Waiting::duration>(time - BootClock::now());
}

/// Parses "500ms", "5s", "1.5s", "2m", "1h" or "30d"; a bare number is in `bare` units. Rounds up.
/// Throws UsageError, naming `what`, if it is malformed, negative, longer than a year, or less than
/// 1ms, but not 0.
std::chrono::milliseconds parse_duration(std::string_view text, std::string_view what,
                                         std::chrono::milliseconds bare = std::chrono::seconds(1));

/// As parse_duration, but from 1us on, and to the microsecond ("250us", "0.00025"); a bare number
/// is in seconds.
std::chrono::microseconds parse_short_duration(std::string_view text, std::string_view what);

/// "850us", "12.3ms", "4.56s": three significant digits, without zeros behind the last; from a
/// minute on "2m" or "5h" if it is whole, else as short_age.
std::string short_time(std::chrono::nanoseconds time);
/// "2.1s", "41s", "12m05s", "5h07m", "3d02h", "1y035d"; "0.0s" if negative.
std::string short_age(std::int64_t milliseconds);

/// Milliseconds since 1970, by this machine's clock.
std::int64_t wall_clock_now();
/// A local time, of the present by default: "14:06:22".
std::string time_of_day(std::int64_t milliseconds = wall_clock_now());

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
