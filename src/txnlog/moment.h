// Moment: a place in the history, as a time or a zxid.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zksh {

/// Either of the two.
struct Moment {
  std::optional<std::int64_t> time{};  ///< milliseconds since 1970
  std::optional<std::int64_t> zxid{};
};

/// Parses "2026-11-25 03:10", with seconds or without, in this process's time zone or, with a final
/// Z, in UTC; "yesterday 03:00", "today"; "now", "-2h" (see parse_duration), milliseconds since
/// 1970; a zxid as 0x300000005 or EPOCH:COUNTER; "before:ZXID", the zxid before it. Throws
/// ValueError, naming `what`, also for a local time that comes twice or never, as clocks are put
/// back or forward.
Moment parse_moment(std::string_view text, std::string_view what);

/// "2026-11-25 03:10:00.123", in this process's time zone.
std::string local_time_text(std::int64_t milliseconds);

}  // namespace zksh
