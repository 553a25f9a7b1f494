// Time text: digits and units for people.
#include "base/time.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

using namespace std::chrono_literals;

TEST(ShortTime, HasThreeDigits) {
  EXPECT_EQ(short_time(0ns), "0 us");
  EXPECT_EQ(short_time(1400ns), "1 us");
  EXPECT_EQ(short_time(999us), "999 us");
  EXPECT_EQ(short_time(1234us), "1.23 ms");
  EXPECT_EQ(short_time(12345us), "12.3 ms");
  EXPECT_EQ(short_time(99960us), "100 ms");
  EXPECT_EQ(short_time(12345ms), "12.3 s");
  EXPECT_EQ(short_time(1234s), "1234 s");
}

TEST(ShortAge, IsShort) {
  EXPECT_EQ(short_age(-5), "0.0s");
  EXPECT_EQ(short_age(2149), "2.1s");
  EXPECT_EQ(short_age(59'999), "59s");
  EXPECT_EQ(short_age(61'000), "1m01s");
  EXPECT_EQ(short_age(3'600'000), "1h00m");
  EXPECT_EQ(short_age(90'000'000), "1d01h");
}

}  // namespace
}  // namespace zksh
