// Time text: spans of time as people read them, and what time it is.
#include "base/time_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace zksh {

std::string short_time(std::chrono::nanoseconds time) {
  const auto nanoseconds = static_cast<double>(time.count());
  const auto three_digits = [](double number, const char* unit) {
    const int decimals = number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
    return fmt::format("{:.{}f} {}", number, decimals, unit);
  };
  if (nanoseconds < 999.5e3) return fmt::format("{:.0f} us", nanoseconds / 1e3);
  if (nanoseconds < 999.5e6) return three_digits(nanoseconds / 1e6, "ms");
  return three_digits(nanoseconds / 1e9, "s");
}

std::string short_age(std::int64_t milliseconds) {
  const auto ms = std::max<std::int64_t>(milliseconds, 0);
  const auto seconds = ms / 1000;
  if (seconds < 10) return fmt::format("{}.{}s", seconds, ms % 1000 / 100);
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
  if (seconds < 86400) return fmt::format("{}h{:02}m", seconds / 3600, seconds / 60 % 60);
  return fmt::format("{}d{:02}h", seconds / 86400, seconds / 3600 % 24);
}

std::int64_t wall_clock_now() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

}  // namespace zksh
