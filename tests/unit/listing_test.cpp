// Stat text: the lines that zkCli.sh 3.8.0 prints.
#include "node/listing.h"

#include "base/java.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

TEST(StatLines, HaveZkClisOrderAndForm) {
  const Stat stat{.czxid = 0x2,
                  .mzxid = 0xAB,
                  .ctime = 1795174903000,
                  .mtime = 1795174904999,
                  .version = 3,
                  .cversion = 4,
                  .aversion = -1,
                  .ephemeral_owner = 0x1000ABCDEF0001,
                  .data_length = 6,
                  .num_children = 7,
                  .pzxid = 0x500000002};
  EXPECT_EQ(stat_lines(stat),
            "cZxid = 0x2\n"
            "ctime = " +
                java_date(1795174903000) +
                "\n"
                "mZxid = 0xab\n"
                "mtime = " +
                java_date(1795174904000) +
                "\n"
                "pZxid = 0x500000002\n"
                "cversion = 4\n"
                "dataVersion = 3\n"
                "aclVersion = -1\n"
                "ephemeralOwner = 0x1000abcdef0001\n"
                "dataLength = 6\n"
                "numChildren = 7\n");
}

TEST(StatLines, NegativeNumbersAreUnsignedInHexadecimalOnly) {
  const Stat stat{.czxid = -1, .mzxid = INT64_MIN, .version = INT32_MIN, .data_length = -1};
  const auto lines = stat_lines(stat);
  EXPECT_EQ(lines.rfind("cZxid = 0xffffffffffffffff\n", 0), 0U);
  EXPECT_NE(lines.find("\nmZxid = 0x8000000000000000\n"), std::string::npos);
  EXPECT_NE(lines.find("\ndataVersion = -2147483648\n"), std::string::npos);
  EXPECT_NE(lines.find("\ndataLength = -1\n"), std::string::npos);
  EXPECT_NE(lines.find("\nephemeralOwner = 0x0\n"), std::string::npos);
}

TEST(HumanNotes, StandBesideTheirFields) {
  constexpr std::int64_t day = 86'400'000;
  const Stat stat{
      .ctime = 10 * day, .mtime = 13 * day - 1500, .ephemeral_owner = 0x10, .data_length = 2048};
  const auto lines = stat_lines(stat, human_notes(stat, 13 * day, "this session"));
  EXPECT_NE(lines.find("\nctime = " + java_date(10 * day) + " (3d00h ago)\n"), std::string::npos);
  EXPECT_NE(lines.find(" (1.5s ago)\npZxid"), std::string::npos);
  EXPECT_NE(lines.find("\nephemeralOwner = 0x10 (this session)\n"), std::string::npos);
  EXPECT_NE(lines.find("\ndataLength = 2048 (2.0 KiB)\n"), std::string::npos);
}

TEST(HumanNotes, WhatIsNotKnownIsNotSaid) {
  EXPECT_EQ(human_notes({}, 0, "").ephemeral_owner, "not ephemeral");
  EXPECT_EQ(human_notes({.ephemeral_owner = 5}, 0, "").ephemeral_owner, "");
  EXPECT_EQ(human_notes({.data_length = 1023}, 0, "").data_length, "");
}

TEST(AgeText, IsAShortAgeAndADirection) {
  EXPECT_EQ(age_text(0, 0), "0.0s ago");
  EXPECT_EQ(age_text(0, 999), "0.9s ago");
  EXPECT_EQ(age_text(0, 59'999), "59s ago");
  EXPECT_EQ(age_text(0, 3'600'000), "1h00m ago");
  EXPECT_EQ(age_text(0, 40LL * 86'400'000), "40d00h ago");
  EXPECT_EQ(age_text(0, 800LL * 86'400'000), "2y070d ago");
  EXPECT_EQ(age_text(120'000, 0), "in 2m00s");
}

}  // namespace
}  // namespace zksh
