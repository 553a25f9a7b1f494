// LineHistory: stable numbers, limits, and no secrets.
#include "command/line_history.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

TEST(LineHistory, NumbersFromZero) {
  LineHistory history;
  history.add("ls /");
  history.add("get /a");
  EXPECT_EQ(history.first(), 0U);
  EXPECT_EQ(history.next(), 2U);
  EXPECT_EQ(history.at(1).text, "get /a");
}

TEST(LineHistory, ARedoneLineTakesTheLastPlace) {
  LineHistory history;
  history.add("ls /");
  history.add("redo 0");
  history.replace_last(history.at(0));
  EXPECT_EQ(history.at(1).text, "ls /");
  EXPECT_EQ(history.next(), 2U);
}

TEST(LineHistory, KeepsNoSecret) {
  LineHistory history;
  history.add("addauth digest user:topsecret");
  EXPECT_TRUE(history.at(0).masked);
  EXPECT_EQ(history.at(0).text.find("topsecret"), std::string::npos);
}

TEST(LineHistory, NumbersStayWhenOldLinesAreDropped) {
  LineHistory history;
  for (int i = 0; i < 30'000; ++i) history.add("get /" + std::to_string(i));
  EXPECT_EQ(history.next(), 30'000U);
  EXPECT_GT(history.first(), 0U);
  EXPECT_EQ(history.at(29'999).text, "get /29999");
  EXPECT_EQ(history.at(history.first()).text, "get /" + std::to_string(history.first()));
}

TEST(LineHistory, LongLinesDoNotGather) {
  LineHistory history;
  for (int i = 0; i < 20; ++i) history.add(std::string(1U << 20U, 'x'));
  EXPECT_EQ(history.next(), 20U);
  EXPECT_LT(history.next() - history.first(), 10U);
}

}  // namespace
}  // namespace zksh
