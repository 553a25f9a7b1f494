// WatchCounts: the counters of mntr, and what follows from two answers.
#include "ensemble/server_poller.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zksh {
namespace {

std::string mntr(int deleted, int deletions, int most, int children, int set) {
  return fmt::format(
      "zk_version\t3.8.0\nzk_watch_count\t{}\n"
      "zk_sum_node_created_watch_count\t0\nzk_cnt_node_created_watch_count\t0\n"
      "zk_max_node_created_watch_count\t0\n"
      "zk_sum_node_deleted_watch_count\t{}\nzk_cnt_node_deleted_watch_count\t{}\n"
      "zk_max_node_deleted_watch_count\t{}\n"
      "zk_sum_node_changed_watch_count\t5\nzk_cnt_node_changed_watch_count\t5\n"
      "zk_max_node_changed_watch_count\t1\n"
      "zk_sum_node_children_watch_count\t{}\nzk_cnt_node_children_watch_count\t2\n"
      "zk_max_node_children_watch_count\t{}\n",
      set, deleted, deletions, most, children, children);
}

TEST(WatchCounts, AllKindsOfEventsAreAddedUp) {
  const auto counts = parse_watch_counts(mntr(9, 9, 1, 40, 3));
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->fired, 9 + 5 + 40);
  EXPECT_EQ(counts->changes, 9 + 5 + 2);
  EXPECT_EQ(counts->most, 40);
  EXPECT_EQ(counts->set, 3);
}

TEST(WatchCounts, AServerThatDoesNotCountTellsNothing) {
  EXPECT_FALSE(parse_watch_counts("zk_version\t3.5.9\nzk_watch_count\t0\n"));
  EXPECT_FALSE(parse_watch_counts(""));
  EXPECT_FALSE(parse_watch_counts("mntr is not executed because it is not in the whitelist.\n"));
}

TEST(WatchCountsBetween, AsManyEventsAsChangesIsOneEach) {
  const auto counts = between({.fired = 100, .changes = 20, .most = 50, .set = 2},
                              {.fired = 109, .changes = 29, .most = 50, .set = 2});
  EXPECT_EQ(counts.fired, 9);
  EXPECT_EQ(counts.most, 1);
  EXPECT_EQ(counts.left, 0);
}

TEST(WatchCountsBetween, ANewMaximumIsOurs) {
  const auto counts = between({.fired = 100, .changes = 20, .most = 5, .set = 2},
                              {.fired = 145, .changes = 29, .most = 9, .set = 4});
  EXPECT_EQ(counts.most, 9);
  EXPECT_EQ(counts.left, 2);
}

TEST(WatchCountsBetween, BelowAnOldMaximumNobodyKnows) {
  EXPECT_FALSE(between({.fired = 100, .changes = 20, .most = 50, .set = 0},
                       {.fired = 145, .changes = 29, .most = 50, .set = 0})
                   .most);
}

TEST(WatchCountsBetween, ServersThatCountTheirOwnClientsDoNotKnowTheSum) {
  const auto counts = between({.fired = 100, .changes = 20, .most = 5, .set = 0, .servers = 3},
                              {.fired = 145, .changes = 29, .most = 9, .set = 0, .servers = 3});
  EXPECT_EQ(counts.fired, 45);
  EXPECT_FALSE(counts.most);
}

TEST(WatchCountsBetween, NoEventsAtAll) {
  EXPECT_EQ(between({.fired = 7, .changes = 7}, {.fired = 7, .changes = 7}).most, 0);
}

}  // namespace
}  // namespace zksh
