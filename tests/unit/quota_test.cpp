// Quota text: expects the results of StatsTrack of ZooKeeper 3.8.0.
#include "node/quota.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

std::string reprinted(std::string_view text) {
  const auto quota = QuotaText::parse(text);
  return quota ? quota->text() : "bad";
}

TEST(QuotaText, ReadsWhatZkCliWrites) {
  const auto quota = QuotaText::parse("count=5,bytes=-1=;byteHardLimit=100;countHardLimit=-1");
  ASSERT_TRUE(quota);
  EXPECT_EQ(quota->get(QuotaText::count), 5);
  EXPECT_EQ(quota->get(QuotaText::bytes), -1);
  EXPECT_EQ(quota->get(QuotaText::byte_hard_limit), 100);
  EXPECT_EQ(quota->get(QuotaText::count_hard_limit), -1);
  EXPECT_EQ(quota->text(), "count=5,bytes=-1=;byteHardLimit=100;countHardLimit=-1");
}

TEST(QuotaText, ReadsWhat34Writes) {
  EXPECT_EQ(reprinted("count=5,bytes=-1"), "count=5,bytes=-1");
  EXPECT_EQ(reprinted("bytes=7"), "count=-1,bytes=7");
  EXPECT_EQ(reprinted(""), "count=-1,bytes=-1");
  EXPECT_EQ(QuotaText::parse("count=2,bytes=7")->get(QuotaText::count_hard_limit), -1);
}

TEST(QuotaText, SeparatorsMayRepeatAndTheLastValueCounts) {
  EXPECT_EQ(reprinted("count=1,;,bytes=2;;"), "count=1,bytes=2");
  EXPECT_EQ(reprinted("count=1,count=3"), "count=3,bytes=-1");
  EXPECT_EQ(reprinted(";,"), "count=-1,bytes=-1");
  EXPECT_EQ(reprinted("zz=1,aa=2,count=3"), "count=3,bytes=-1=;aa=2;zz=1");
}

TEST(QuotaText, TakesTheNumbersThatJavaTakes) {
  EXPECT_EQ(reprinted("count=+5,bytes=9223372036854775807"), "count=5,bytes=9223372036854775807");
  EXPECT_EQ(reprinted("count=-9223372036854775808"), "count=-9223372036854775808,bytes=-1");
  EXPECT_EQ(reprinted("count==5"), "count=-1,bytes=-1");
}

TEST(QuotaText, RefusesWhatCannotBeRead) {
  for (const auto* text :
       {"count", "count=", "count==", "count=x", "count= 5", "count=5x", "count=+", "count=+-5",
        "count=9223372036854775808", ",count=5", "count=5,bytes"}) {
    EXPECT_EQ(reprinted(text), "bad") << text;
  }
}

TEST(QuotaText, AFreshOneIsWrittenInFull) {
  QuotaText quota;
  for (const auto key : {QuotaText::count, QuotaText::bytes, QuotaText::count_hard_limit,
                         QuotaText::byte_hard_limit}) {
    quota.set(key, -1);
  }
  quota.set(QuotaText::count, 5);
  EXPECT_EQ(quota.text(), "count=5,bytes=-1=;byteHardLimit=-1;countHardLimit=-1");
}

}  // namespace
}  // namespace zksh
