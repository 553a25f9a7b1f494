// parse_duration and parse_size: durations and sizes as users write them.
#include "base/error.h"
#include "base/number.h"
#include "base/time.h"

#include <gtest/gtest.h>

#include <cstdlib>

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

TEST(Size, TakesUnits) {
  EXPECT_EQ(parse_size("100", "s"), 100);
  EXPECT_EQ(parse_size("10k", "s"), 10240);
  EXPECT_EQ(parse_size("1.5MiB", "s"), 1536 * 1024);
  EXPECT_EQ(parse_size("2TB", "s"), std::int64_t{2} << 40);
  EXPECT_EQ(parse_size("0.1B", "s"), 1);
  for (const auto* text : {"", "k", "-1", "1x", "1kb", "nan", "inf", "1e19", "9000000T"})
    EXPECT_THROW(parse_size(text, "s"), ValueError) << text;
}

TEST(LeadingDecimal, IsReadAsTheCLibraryDoes) {
  for (const auto* text :
       {"0", "12", "1.5", ".5", "5.", "0.1", "1.1", "123456.789", "1E-4", "2e3x", "0.0667",
        "9007199254740991", "1e400", "1e-400", "7e", "1.2.3", "3e-x"}) {
    char* end = nullptr;
    const auto expected = std::strtod(text, &end);
    const auto read = leading_decimal(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(read->number, expected) << text;
    EXPECT_EQ(read->rest, end) << text;
  }
  for (const auto* text : {"", ".", "-1", "+1", " 1", "e5", "x", "nan"})
    EXPECT_FALSE(leading_decimal(text)) << text;
}

}  // namespace
}  // namespace zksh
