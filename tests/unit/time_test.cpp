// Time text: digits and units for people.
#include "base/time.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

using namespace std::chrono_literals;

TEST(ShortTime, HasThreeDigits) {
  EXPECT_EQ(short_time(0ns), "0us");
  EXPECT_EQ(short_time(1400ns), "1us");
  EXPECT_EQ(short_time(999us), "999us");
  EXPECT_EQ(short_time(1234us), "1.23ms");
  EXPECT_EQ(short_time(12345us), "12.3ms");
  EXPECT_EQ(short_time(99960us), "100ms");
  EXPECT_EQ(short_time(12345ms), "12.3s");
  EXPECT_EQ(short_time(4001ms), "4.00s");
  EXPECT_EQ(short_time(1234s), "20m34s");
  EXPECT_EQ(short_time(26h), "1d02h");
}

TEST(ShortTime, WhatIsExactIsWrittenAsItWouldBeTyped) {
  EXPECT_EQ(short_time(100us), "100us");
  EXPECT_EQ(short_time(2ms), "2ms");
  EXPECT_EQ(short_time(1500ms), "1.5s");
  EXPECT_EQ(short_time(30s), "30s");
  EXPECT_EQ(short_time(2min), "2m");
  EXPECT_EQ(short_time(90s), "1m30s");
  EXPECT_EQ(short_time(3h), "3h");
}

TEST(ShortAge, IsShort) {
  EXPECT_EQ(short_age(-5), "0.0s");
  EXPECT_EQ(short_age(2149), "2.1s");
  EXPECT_EQ(short_age(59'999), "59s");
  EXPECT_EQ(short_age(61'000), "1m01s");
  EXPECT_EQ(short_age(3'600'000), "1h00m");
  EXPECT_EQ(short_age(90'000'000), "1d01h");
  EXPECT_EQ(short_age(405 * 86'400'000LL), "1y040d");
}

}  // namespace
}  // namespace zksh
