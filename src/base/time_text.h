// Time text: spans of time as people read them, and what time it is.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace zksh {

/// "850 us", "12.3 ms", "4.56 s": three digits.
std::string short_time(std::chrono::nanoseconds time);
/// "2.1s", "41s", "12m05s", "5h07m", "3d02h"; what is negative is "0.0s".
std::string short_age(std::int64_t milliseconds);

/// Milliseconds since 1970, by this machine's clock.
std::int64_t wall_clock_now();

}  // namespace zksh
