// Duration: times as users write them.
#include "base/duration.h"

#include "base/error.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>

namespace zksh {

namespace {

/// In microseconds, not rounded.
double microseconds_of(std::string_view text, std::string_view what,
                       std::chrono::milliseconds bare) {
  using namespace std::chrono_literals;
  constexpr std::chrono::microseconds longest = 24h * 366;
  double number = -1;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  double scale = -1;
  if (unit.empty()) scale = 1e3 * static_cast<double>(bare.count());
  if (unit == "us") scale = 1;
  if (unit == "ms") scale = 1e3;
  if (unit == "s") scale = 1e6;
  if (unit == "m") scale = 60e6;
  if (unit == "h") scale = 3600e6;
  if (unit == "d") scale = 24 * 3600e6;
  if (problem != std::errc{} || scale < 0 || !(number >= 0))
    throw UsageError(
        fmt::format("{}: \"{}\" is not a time such as 500ms, 5s, 1.5s, 2m or 1h", what, text));
  if (number * scale > static_cast<double>(longest.count()))
    throw UsageError(fmt::format("{}: {} is longer than a year", what, text));
  return number * scale;
}

}  // namespace

std::chrono::milliseconds parse_duration(std::string_view text, std::string_view what,
                                         std::chrono::milliseconds bare) {
  return std::chrono::milliseconds(
      static_cast<std::int64_t>(std::ceil(microseconds_of(text, what, bare) / 1e3)));
}

std::chrono::microseconds parse_short_duration(std::string_view text, std::string_view what) {
  return std::chrono::microseconds(static_cast<std::int64_t>(
      std::ceil(microseconds_of(text, what, std::chrono::seconds(1)) - 1e-6)));
}

}  // namespace zksh
