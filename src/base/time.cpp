// Time: the clock for leases, and durations and times as users read and write them.
#include "base/time.h"

#include "base/error.h"
#include "base/number.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>

namespace zksh {
namespace {

/// Parses a duration to microseconds, without rounding.
double microseconds_of(std::string_view text, std::string_view what,
                       std::chrono::milliseconds bare) {
  using namespace std::chrono_literals;
  constexpr std::chrono::microseconds longest = 24h * 366;
  const auto decimal = leading_decimal(text);
  const double number = decimal ? decimal->number : -1;
  const auto unit = decimal ? decimal->rest : "";
  double scale = -1;
  if (unit.empty()) scale = 1e3 * static_cast<double>(bare.count());
  if (unit == "us") scale = 1;
  if (unit == "ms") scale = 1e3;
  if (unit == "s") scale = 1e6;
  if (unit == "m") scale = 60e6;
  if (unit == "h") scale = 3600e6;
  if (unit == "d") scale = 24 * 3600e6;
  if (scale < 0 || !(number >= 0))
    throw UsageError(
        fmt::format("{}: \"{}\" is not a time such as 500ms, 5s, 1.5s, 2m or 1h", what, text));
  if (number * scale > static_cast<double>(longest.count()))
    throw UsageError(fmt::format("{}: {} is longer than a year", what, text));
  return number * scale;
}

}  // namespace

std::chrono::milliseconds parse_duration(std::string_view text, std::string_view what,
                                         std::chrono::milliseconds bare) {
  const double milliseconds = microseconds_of(text, what, bare) / 1e3;
  if (milliseconds > 0 && milliseconds < 1)
    throw UsageError(fmt::format("{}: {} is less than 1ms, the least time here", what, text));
  return std::chrono::ceil<std::chrono::milliseconds>(
      std::chrono::duration<double, std::milli>(milliseconds));
}

std::chrono::microseconds parse_short_duration(std::string_view text, std::string_view what) {
  return std::chrono::ceil<std::chrono::microseconds>(std::chrono::duration<double, std::micro>(
      microseconds_of(text, what, std::chrono::seconds(1)) - 1e-6));
}

std::string short_time(std::chrono::nanoseconds time) {
  using namespace std::chrono_literals;
  const auto rounded = [&](std::chrono::nanoseconds unit, const char* name) {
    const auto number = static_cast<double>(time.count()) / static_cast<double>(unit.count());
    const int decimals = number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
    for (int i = 0; i < decimals; ++i)
      if (time % (unit / (i == 0 ? 1 : 10)) == 0ns)
        return fmt::format("{:.{}f}{}", number, i, name);
    return fmt::format("{:.{}f}{}", number, decimals, name);
  };
  time = std::max(time, 0ns);
  if (time < 999'500ns) return fmt::format("{}us", (time + 500ns) / 1us);
  if (time < 999'500us) return rounded(1ms, "ms");
  if (time < 60s) return rounded(1s, "s");
  if (time < 1h && time % 1min == 0ns) return fmt::format("{}m", time / 1min);
  if (time < 24h && time % 1h == 0ns) return fmt::format("{}h", time / 1h);
  return short_age(time / 1ms);
}

std::string short_age(std::int64_t milliseconds) {
  const auto ms = std::max<std::int64_t>(milliseconds, 0);
  const auto seconds = ms / 1000;
  if (seconds < 10) return fmt::format("{}.{}s", seconds, ms % 1000 / 100);
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
  if (seconds < 86400) return fmt::format("{}h{:02}m", seconds / 3600, seconds / 60 % 60);
  const auto days = seconds / 86400;
  if (days < 365) return fmt::format("{}d{:02}h", days, seconds / 3600 % 24);
  return fmt::format("{}y{:03}d", days / 365, days % 365);
}

std::string time_of_day(std::int64_t milliseconds) {
  const auto seconds = static_cast<std::time_t>(milliseconds / 1000);
  std::tm here{};
  localtime_r(&seconds, &here);
  return fmt::format("{:02}:{:02}:{:02}", here.tm_hour, here.tm_min, here.tm_sec);
}

std::int64_t wall_clock_now() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

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
