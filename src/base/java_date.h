// Java date: a time as Java's Date.toString writes it.
#pragma once

#include <cstdint>
#include <string>

namespace zksh {

/// Milliseconds since 1970 UTC as Java 17's Date.toString: "Fri Nov 20 11:41:43 UTC 2026". The zone
/// is that of $TZ, else of /etc/localtime, under the short name that Java gives it; it is found
/// once, at the first call. Any value is fine. May be called from any thread.
std::string java_date(std::int64_t milliseconds);

/// The same, but the zone is found anew: for tests, which change $TZ. Not while other threads run.
std::string java_date_after_zone_change(std::int64_t milliseconds);

}  // namespace zksh
