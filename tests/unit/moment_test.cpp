// Moment: times and zxids as users write them.
#include "txnlog/moment.h"

#include "base/error.h"
#include "base/time.h"

#include <gtest/gtest.h>

#include <cstdlib>

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

/// A time zone for this process, until the test is over.
class TimeZone {
 public:
  explicit TimeZone(const char* name) : before_(std::getenv("TZ") ? std::getenv("TZ") : "") {
    setenv("TZ", name, 1);
    tzset();
  }
  TimeZone(const TimeZone&) = delete;
  TimeZone& operator=(const TimeZone&) = delete;
  ~TimeZone() {
    before_.empty() ? unsetenv("TZ") : setenv("TZ", before_.c_str(), 1);
    tzset();
  }

 private:
  std::string before_;
};

TEST(Moment, RefusesTimesThatTheClocksShowTwiceOrNever) {
  const TimeZone zone("CET-1CEST,M3.5.0,M10.5.0/3");
  EXPECT_EQ(why_not("2026-10-25 02:30"),
            "at: 2026-10-25 02:30 comes twice here, as the clocks are put back: write "
            "2026-10-25 00:30:00Z or 2026-10-25 01:30:00Z");
  EXPECT_EQ(why_not("2026-03-29 02:30"),
            "at: 2026-03-29 02:30 never comes here, as the clocks are put forward: write "
            "2026-03-29 00:30:00Z (2026-03-29 01:30 here) or 2026-03-29 01:30:00Z "
            "(2026-03-29 03:30 here)");
  for (const auto* const twice : {"2026-10-25 02:00", "2026-10-25T02:59:59.999"})
    EXPECT_NE(why_not(twice), "") << twice;
  const auto is = [](std::string_view local, std::string_view utc) {
    EXPECT_EQ(parse_moment(local, "at").time, parse_moment(utc, "at").time) << local;
  };
  is("2026-03-29 01:59:59.999", "2026-03-29 00:59:59.999Z");
  is("2026-03-29 03:00", "2026-03-29 01:00Z");
  is("2026-10-25 01:59", "2026-10-24 23:59Z");
  is("2026-10-25 03:00", "2026-10-25 02:00Z");
  is("2026-07-01", "2026-06-30 22:00Z");
  is("2026-12-31 23:59", "2026-12-31 22:59Z");
}

TEST(Moment, RefusesADayThatAZoneHasSkipped) {
  const TimeZone zone("Pacific/Apia");  // west of the date line until 2011-12-29, then east of it
  if (parse_moment("2011-12-29", "at").time != parse_moment("2011-12-29 10:00Z", "at").time)
    GTEST_SKIP() << "no tzdata";
  EXPECT_NE(why_not("2011-12-30 12:00"), "");
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
