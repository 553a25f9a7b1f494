// Duration: times as users write them.
#pragma once

#include <chrono>
#include <string_view>

namespace zksh {

/// "500ms", "5s", "1.5s", "2m", "1h", "30d"; a bare number is in `bare` units. Rounded up. Throws
/// UsageError naming `what` when it is none, negative, or longer than a year.
std::chrono::milliseconds parse_duration(std::string_view text, std::string_view what,
                                         std::chrono::milliseconds bare = std::chrono::seconds(1));

/// As parse_duration, a bare number in seconds, to the microsecond: "250us", "0.00025".
std::chrono::microseconds parse_short_duration(std::string_view text, std::string_view what);

}  // namespace zksh
