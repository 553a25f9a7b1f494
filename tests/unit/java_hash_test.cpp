// Java hash: expects Java 17's results.
#include "base/java.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace zksh {
namespace {

TEST(JavaHash, IsThatOfString) {
  EXPECT_EQ(java_hash(""), 0U);
  EXPECT_EQ(java_hash("a"), 97U);
  EXPECT_EQ(java_hash("hello world"), 1794106052U);
  EXPECT_EQ(java_hash("server.1"), 1379102790U);
  EXPECT_EQ(java_hash("\u00e9"), 233U);
}

TEST(JavaHash, CountsUtf16Units) {
  EXPECT_EQ(java_hash("\U0001F600"), 0xD83DU * 31 + 0xDE00U);
  EXPECT_EQ(java_hash("\xff"), 0xFFFDU);
}

std::string in_order(std::vector<std::string> keys) {
  sort_as_java_map(keys, java_hash);
  std::string text;
  for (const auto& key : keys) text += key + ' ';
  return text;
}

TEST(JavaHash, OrdersAsAMapIsWalked) {
  EXPECT_EQ(in_order({"server.1", "server.2", "server.3"}), "server.2 server.1 server.3 ");
  EXPECT_EQ(in_order({"server.1", "server.2", "server.3", "server.4", "server.5", "version"}),
            "server.2 server.1 server.5 server.4 server.3 version ");
}

TEST(JavaHash, KnowsThatAMapGrows) {
  std::vector<std::string> keys;
  for (int i = 1; i <= 13; ++i) keys.push_back("server." + std::to_string(i));
  keys.emplace_back("version");
  EXPECT_EQ(in_order(keys),
            "version server.10 server.11 server.2 server.1 server.12 server.13 server.6 server.5 "
            "server.4 server.3 server.9 server.8 server.7 ");
}

TEST(JavaHash, KeepsTheOrderWithinABucket) {
  // "Aa" and "BB" are the classic hash collision.
  EXPECT_EQ(in_order({"Aa", "BB"}), "Aa BB ");
  EXPECT_EQ(in_order({"BB", "Aa"}), "BB Aa ");
}

TEST(JavaHash, OrdersAsAClonedSetIsWalked) {
  using Texts = std::vector<std::string>;
  Texts six{"/ep1", "/ep1-0000000005", "/ep2", "/ep3", "/pp/e", "/pp/f"};
  sort_as_cloned_java_set(six);
  EXPECT_EQ(six, (Texts{"/ep1", "/ep1-0000000005", "/pp/f", "/ep2", "/ep3", "/pp/e"}));
  // Five have a table of 16 buckets, and their clone one of 8.
  Texts five{"/ep1", "/ep1-0000000005", "/ep3", "/pp/e", "/pp/f"};
  sort_as_cloned_java_set(five);
  EXPECT_EQ(five, (Texts{"/ep1", "/ep1-0000000005", "/pp/f", "/ep3", "/pp/e"}));
  Texts none;
  sort_as_cloned_java_set(none);
  EXPECT_TRUE(none.empty());
}

}  // namespace
}  // namespace zksh
