// Stat text: the block that zkCli.sh 3.8.0 prints.
#include "stat_text.h"

#include "java_date.h"

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

}  // namespace
}  // namespace zksh
