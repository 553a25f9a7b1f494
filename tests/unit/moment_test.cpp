// Moment: times and zxids as users write them.
#include "txnlog/moment.h"

#include "base/error.h"
#include "base/time.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

TEST(Moment, Times) {
  EXPECT_EQ(parse_moment("2026-11-25 03:10Z", "at").time, 1795576200000);
  EXPECT_EQ(parse_moment("2026-11-25T03:10:05.250Z", "at").time, 1795576205250);
  EXPECT_EQ(parse_moment("2026-11-25Z", "at").time, 1795564800000);
  EXPECT_EQ(parse_moment("1795576200000", "at").time, 1795576200000);
  const auto now = wall_clock_now();
  EXPECT_NEAR(static_cast<double>(*parse_moment("now", "at").time), static_cast<double>(now), 5000);
  EXPECT_NEAR(static_cast<double>(*parse_moment("-2h", "at").time),
              static_cast<double>(now - 7'200'000), 5000);
  const auto local = parse_moment("2026-11-25 03:10:05.123", "at").time;
  EXPECT_EQ(local_time_text(*local), "2026-11-25 03:10:05.123");
}

TEST(Moment, Zxids) {
  EXPECT_EQ(parse_moment("0x300000005", "at").zxid, 0x300000005);
  EXPECT_EQ(parse_moment("3:5", "at").zxid, 0x300000005);
  EXPECT_EQ(parse_moment("0x300000005", "at").time, std::nullopt);
}

TEST(Moment, Refuses) {
  for (const auto* const text :
       {"", "-", "x", "0x", "3:", ":5", "2026-13-01", "2026-02-30", "2026-1-1", "2026-11-25 3:10",
        "2026-11-25 24:00", "2026-11-25 03:10:05.1", "-2y", "4294967296:1", "2026-11-25 03:10 "})
    EXPECT_THROW(parse_moment(text, "at"), UsageError) << text;
}

std::string why_not(std::string_view text) {
  try {
    parse_moment(text, "at");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Moment, RefusesWhatIsAmbiguous) {
  EXPECT_EQ(
      why_not("21:08"),
      "at: 21:08 may be a time or the counter of an epoch: write \"YYYY-MM-DD 21:08\" for the "
      "time, 0x1500000008 for the zxid");
  EXPECT_NE(why_not("00:00"), "");
  for (const auto* const text : {"24:08", "21:60", "1:08", "21:8", "21:080", "0x1500000008"})
    EXPECT_EQ(why_not(text), "") << text;
  EXPECT_EQ(
      why_not("1795576200"),
      "at: 1795576200 milliseconds since 1970 is 1970-01-21; if these are seconds, append 000");
  EXPECT_EQ(why_not("1795576200000"), "");
}

}  // namespace
}  // namespace zksh
