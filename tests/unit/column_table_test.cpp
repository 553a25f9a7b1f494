// ColumnTable: which columns give way on a narrow terminal, and where their cells are cut.
#include "base/column_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zksh {
namespace {

using testing::ElementsAre;

ColumnTable table_of_two() {
  ColumnTable table({{.title = "path"}, {.title = "n", .right = true}, {.title = "owner"}});
  table.add_row({"/app/jobs/lock-0000000007", "12", "a long name of an owner"});
  return table;
}

TEST(ColumnTable, SentencesAreCutAtTheEndAndPathsInTheMiddle) {
  auto table = table_of_two();
  table.set_elastic(2, ColumnTable::Cut::End, 8);
  table.set_elastic(0, ColumnTable::Cut::Middle, 8);
  EXPECT_THAT(table.lines(0, "…"),
              ElementsAre("path                        n  owner",
                          "/app/jobs/lock-0000000007  12  a long name of an owner"));
  EXPECT_THAT(table.lines(46, "…"), ElementsAre("path                        n  owner",
                                                "/app/jobs/lock-0000000007  12  a long name of…"));
  EXPECT_THAT(table.lines(30, "…"),
              ElementsAre("path               n  owner", "/app/jo…00000007  12  a long …"));
  EXPECT_THAT(table.lines(10, "…"), ElementsAre("path       n  owner", "/ap…0007  12  a long …"))
      << "no narrower than what they need";
}

TEST(ColumnTable, TheWidthThatTheFirstElasticColumnLeaves) {
  auto table = table_of_two();
  table.set_elastic(2);
  table.set_elastic(0);
  EXPECT_EQ(table.width(0), 31U);
  EXPECT_EQ(table.width(10), 41U);
  EXPECT_EQ(table.width(100), 54U);
  table.drop(1);
  EXPECT_EQ(table.width(0), 27U);
}

}  // namespace
}  // namespace zksh
