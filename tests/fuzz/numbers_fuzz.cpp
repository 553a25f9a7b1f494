// Fuzzes numbers, times and sizes as users write them.
#include "base/number.h"
#include "base/time.h"
#include "fuzz.h"
#include "tree/node_filter.h"

#include <limits>

namespace zksh::fuzz {

void numbers_fuzz(std::string_view bytes) {
  using std::chrono::hours;
  const bool whole = accepts([&] {
    const auto number = parse_number(bytes, "n", -5, 1'000'000);
    require(number >= -5 && number <= 1'000'000, "a number is in its range", bytes);
  });
  require(!whole || is_number(bytes), "a number is one", bytes);
  accepts([&] {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    const auto number = parse_number(bytes, "n", -most, most);
    require(parse_number(std::to_string(number), "n", -most, most) == number, "it reads back");
  });
  accepts([&] {
    const auto time = parse_duration(bytes, "t");
    require(time.count() >= 0 && time <= hours(24 * 366), "a time is within a year", bytes);
    const auto precise = parse_short_duration(bytes, "t");
    require(precise.count() >= 0 && precise <= time, "a time is only rounded up", bytes);
  });
  accepts([&] {
    const auto size = parse_size(bytes, "s");
    require(size >= 0, "a size is not negative", bytes);
    require(parse_size(std::to_string(size), "s") >= 0, "a size reads back", bytes);
    size_text(size);
  });
  accepts([&] {
    const auto session = parse_session_id(std::string(bytes), "id");
    require(parse_session_id(zxid_text(session), "id") == session, "an id reads back", bytes);
  });
}

}  // namespace zksh::fuzz
