// parse_duration: durations as users write them.
#include "base/error.h"
#include "base/time.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

using namespace std::chrono_literals;

TEST(Duration, TakesUnits) {
  EXPECT_EQ(parse_duration("500ms", "t"), 500ms);
  EXPECT_EQ(parse_duration("5s", "t"), 5s);
  EXPECT_EQ(parse_duration("1.5s", "t"), 1500ms);
  EXPECT_EQ(parse_duration("2m", "t"), 2min);
  EXPECT_EQ(parse_duration("1h", "t"), 1h);
  EXPECT_EQ(parse_duration("0", "t"), 0ms);
}

TEST(Duration, ABareNumberIsInTheCallersUnit) {
  EXPECT_EQ(parse_duration("3", "t"), 3s);
  EXPECT_EQ(parse_duration("3000", "t", 1ms), 3s);
}

TEST(Duration, RoundsUp) { EXPECT_EQ(parse_duration("0.0011s", "t"), 2ms); }

TEST(Duration, RefusesLessThanAMillisecondAsThat) {
  for (const auto* text : {"0.5ms", "0.0001s", "999us"}) {
    try {
      parse_duration(text, "-w");
      ADD_FAILURE() << text;
    } catch (const UsageError& error) {
      EXPECT_EQ(error.what(),
                std::string("-w: ") + text + " is less than 1ms, the least time here");
    }
  }
  EXPECT_THROW(parse_duration("0.5", "-t", 1ms), UsageError);
  EXPECT_EQ(parse_duration("0us", "t"), 0ms);
}

TEST(Duration, RefusesWhatIsNoTime) {
  for (const auto* text : {"", "s", "5x", "-1s", "nan", "inf", "1e99s", "1 s", "5ss", "9000h"})
    EXPECT_THROW(parse_duration(text, "t"), UsageError) << text;
}

TEST(Duration, ShortOnesAreKeptToTheMicrosecond) {
  EXPECT_EQ(parse_short_duration("250us", "t"), 250us);
  EXPECT_EQ(parse_short_duration("0.000100", "t"), 100us);
  EXPECT_EQ(parse_short_duration("1.5ms", "t"), 1500us);
  EXPECT_EQ(parse_short_duration("2", "t"), 2s);
  EXPECT_THROW(parse_short_duration("9000h", "t"), UsageError);
}

}  // namespace
}  // namespace zksh
