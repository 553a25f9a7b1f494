// DigestCheck: which digests that differ show another tree, and which show nothing.
#include "txnlog/digest_check.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

constexpr std::int64_t epoch = std::int64_t{1} << 32U;
/// A snapshot at 5, written until 7.
constexpr SnapshotEnd until_seven{.newest_zxid = 6, .digest_zxid = 7};

class Log {
 public:
  explicit Log(const SnapshotEnd& end = until_seven) : check(end, 5) {}

  /// A transaction whose digest is right or wrong; of the root itself, if `root`.
  void add(std::int64_t zxid, bool right, bool root = false) {
    LoggedTransaction txn{.zxid = zxid, .type = TxnType::SetData};
    txn.operations.push_back({.type = TxnType::SetData, .path = root ? "/" : "/a"});
    txn.digest = 1;
    check.note(txn);
    check.compare(txn, right, "log.1", 16);
  }
  DigestCheck& ended() {
    check.finish();
    return check;
  }
  DigestCheck check;
};

TEST(DigestCheck, WhatASnapshotSaysIsNotCompared) {
  Log log;
  log.add(6, false);
  log.add(7, false);
  log.add(8, true);
  EXPECT_EQ(log.ended().right(), 1U);
  EXPECT_FALSE(log.check.wrong());
  EXPECT_FALSE(log.check.harmless());
  // The transaction after it is in the snapshot, too.
  Log half({.newest_zxid = 9, .digest_zxid = 7});
  half.add(8, false);
  half.add(9, true);
  EXPECT_FALSE(half.ended().harmless());
  Log old(SnapshotEnd{});
  old.add(8, false);
  EXPECT_FALSE(old.ended().wrong());
}

TEST(DigestCheck, NeverRightIsAnotherTree) {
  Log log;
  log.add(8, false);
  log.add(9, false);
  ASSERT_TRUE(log.ended().wrong());
  EXPECT_EQ(log.check.wrong()->from, 8);
  EXPECT_EQ(log.check.wrong()->to, 9);
  EXPECT_EQ(log.check.wrong()->count, 2U);
  EXPECT_FALSE(log.check.wrong()->ended);
}

TEST(DigestCheck, ASnapshotMayBeFuzzierThanItSays) {
  Log log;
  log.add(8, false);
  log.add(9, true);
  EXPECT_FALSE(log.ended().wrong());
  ASSERT_TRUE(log.check.harmless());
  EXPECT_TRUE(log.check.harmless()->ended);
}

TEST(DigestCheck, WithinAnEpochTheTreeStaysRight) {
  Log log;
  log.add(8, true);
  log.add(9, false);
  log.add(10, true);
  log.add(11, false);
  EXPECT_FALSE(log.ended().wrong());
  ASSERT_TRUE(log.check.harmless());
  EXPECT_EQ(log.check.harmless()->from, 9);
  EXPECT_EQ(log.check.harmless()->to, 11);
  EXPECT_FALSE(log.check.harmless()->ended);
}

TEST(DigestCheck, ARequestForTheRootUnderWay) {
  Log log;
  log.add(7, true, true);
  log.add(8, false);
  EXPECT_FALSE(log.ended().wrong());
  EXPECT_TRUE(log.check.harmless());
  Log long_ago;
  long_ago.add(6, true, true);
  for (int i = 0; i < 1000; ++i) long_ago.add(7, true);
  long_ago.add(8, false);
  EXPECT_TRUE(long_ago.ended().wrong());
}

TEST(DigestCheck, ANewEpochMayBelongToAnotherHistory) {
  Log log;
  log.add(8, true);
  log.add(epoch + 1, false);
  log.add(epoch + 2, true);
  ASSERT_TRUE(log.ended().wrong());
  EXPECT_EQ(log.check.wrong()->from, epoch + 1);
  EXPECT_TRUE(log.check.wrong()->ended);
}

TEST(DigestCheck, AfterAGapNothingIsCompared) {
  Log log;
  log.add(8, true);
  log.check.give_up();
  log.add(10, false);
  EXPECT_FALSE(log.ended().wrong());
  EXPECT_FALSE(log.check.harmless());
}

}  // namespace
}  // namespace zksh
