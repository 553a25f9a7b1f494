// WatcherTable: when a watch is the only one on its node.
#include "session/handle.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

constexpr auto data = WatchKind::OfData;
constexpr auto children = WatchKind::OfChildren;

struct WatcherTableTest : testing::Test {
  const int a = 0;
  const int b = 0;
  WatcherTable table;

  void watch(const void* who, WatchKind kind = data) {
    table.asked("/p", kind, who);
    table.answered("/p", kind, who, true);
  }
};

TEST_F(WatcherTableTest, OneIsTheOnlyOneWhileItWatches) {
  EXPECT_FALSE(table.only("/p", data, &a));
  watch(&a);
  watch(&a);
  EXPECT_TRUE(table.only("/p", data, &a));
  EXPECT_FALSE(table.only("/p", children, &a));
  EXPECT_FALSE(table.only("/q", data, &a));
  watch(&b);
  EXPECT_FALSE(table.only("/p", data, &a));
}

TEST_F(WatcherTableTest, AReadOnItsWayCounts) {
  watch(&a);
  table.asked("/p", data, &b);
  EXPECT_FALSE(table.only("/p", data, &a));
  table.answered("/p", data, &b, false);  // it failed, and left nothing
  EXPECT_TRUE(table.only("/p", data, &a));
}

TEST_F(WatcherTableTest, AnEventBeforeTheAnswerIsThatOfAnEarlierWatch) {
  watch(&a);
  table.asked("/p", data, &b);
  table.fired("/p", data);
  table.answered("/p", data, &b, true);
  watch(&a);
  EXPECT_FALSE(table.only("/p", data, &a));  // b watches still
  table.fired("/p", data);
  watch(&a);
  EXPECT_TRUE(table.only("/p", data, &a));
}

TEST_F(WatcherTableTest, ForgottenOnesDoNotCount) {
  watch(&a);
  watch(&b);
  table.forgotten("/p", data, &b);
  EXPECT_TRUE(table.only("/p", data, &a));
  table.asked("/p", data, &b);
  table.forgotten("/p", data, &b);
  EXPECT_FALSE(table.only("/p", data, &a));  // the read's watch is still to come
}

TEST_F(WatcherTableTest, OneHasItsPathsKeptWhileTheyAreWatched) {
  const int c = 0;
  WatcherTable named(&a);
  const auto watch_with = [&](const std::string& path, WatchKind kind, const void* who) {
    named.asked(path, kind, who);
    named.answered(path, kind, who, true);
  };
  watch_with("/q", data, &a);
  watch_with("/p", data, &a);
  watch_with("/p", children, &a);
  watch_with("/p", data, &b);
  watch_with("/p", data, &c);
  named.asked("/r", data, &a);
  using Places = std::vector<OpenWatches::Place>;
  EXPECT_EQ(named.open(nullptr).printed, (Places{{"/p", children}, {"/p", data}, {"/q", data}}));
  EXPECT_EQ(named.open(nullptr).others, 2U);
  EXPECT_EQ(named.open(&c).others, 1U);
  named.fired("/p", data);
  named.forgotten("/q", data, &a);
  named.answered("/r", data, &a, false);
  EXPECT_EQ(named.open(nullptr).printed, (Places{{"/p", children}}));
  EXPECT_EQ(named.open(nullptr).others, 0U);
}

TEST_F(WatcherTableTest, NothingIsKeptOfWhatIsOver) {
  watch(&a);
  watch(&b, children);
  table.asked("/q", data, &a);
  table.answered("/q", data, &a, false);
  table.fired("/p", data);
  table.forgotten("/p", children, &b);
  EXPECT_EQ(0U, table.size());
}

}  // namespace
}  // namespace zksh
