// TransactionReader: many logs in order, each transaction once, and what is missing between them.
#include "txnlog/transaction_reader.h"

#include "base/error.h"
#include "txnlog_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stop_token>

namespace zksh {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct FilesReading {
  std::vector<std::int64_t> zxids{};
  std::vector<Flaw> flaws{};
};

FilesReading read(const DataFiles& files, std::int64_t from = INT64_MIN) {
  FilesReading reading;
  TransactionReader reader(files, from, [&](const Flaw& flaw) {
    if (!flaw.harmless) reading.flaws.push_back(flaw);
  });
  LoggedTransaction txn;
  while (reader.next(txn)) reading.zxids.push_back(txn.zxid);
  return reading;
}

std::string log_of(const std::vector<std::int64_t>& zxids, const std::string& data = "x") {
  std::vector<std::string> bodies;
  bodies.reserve(zxids.size());
  for (const auto zxid : zxids) bodies.push_back(set_body(zxid, "/a", data, 1));
  return log_bytes(bodies, 40);
}

TEST(TransactionReader, OrdersByNumberNotByName) {
  const LogDirectory directory;
  directory.write("log.ff", log_of({0xff}));
  directory.write("log.100", log_of({0x100, 0x101}));
  directory.write("other.1", "x");
  const auto reading = read(DataFiles({directory.path()}));
  EXPECT_THAT(reading.zxids, ElementsAre(0xff, 0x100, 0x101));
  EXPECT_THAT(reading.flaws, IsEmpty());
}

TEST(TransactionReader, BeginsWithTheLogThatMayHaveTheZxid) {
  const LogDirectory directory;
  directory.write("log.1", log_of({1, 2}));
  directory.write("log.3", log_of({3, 4}));
  directory.write("log.5", log_of({5}));
  EXPECT_THAT(read(DataFiles({directory.path()}), 4).zxids, ElementsAre(3, 4, 5));
}

TEST(TransactionReader, PassesOverWhatWasNeverAgreedOn) {
  constexpr std::int64_t epoch = std::int64_t{1} << 32U;
  const LogDirectory leader;
  const LogDirectory other;
  leader.write("log.1", log_of({1, 2, 3, 4}));
  other.write("log.1", log_of({1, 2}));
  other.write("log.100000001", log_of({epoch + 1}));
  const auto zxids_and_flaws = [](const DataFiles& files, std::vector<Flaw>& flaws) {
    std::vector<std::int64_t> zxids;
    TransactionReader reader(files, 0, [&](const Flaw& flaw) { flaws.push_back(flaw); });
    LoggedTransaction txn;
    while (reader.next(txn)) zxids.push_back(txn.zxid);
    return zxids;
  };
  std::vector<Flaw> flaws;
  EXPECT_THAT(zxids_and_flaws(DataFiles({leader.path(), other.path()}), flaws),
              ElementsAre(1, 2, epoch + 1));
  ASSERT_EQ(flaws.size(), 1U);
  EXPECT_THAT(flaw_text(flaws[0]), testing::HasSubstr("in a new epoch without it, 0x3 to 0x4;"));
  EXPECT_TRUE(flaws[0].harmless);
  EXPECT_THAT(zxids_and_flaws(DataFiles({leader.path()}), flaws), ElementsAre(1, 2, 3, 4));
  // The other has got a snapshot in place of 3 and 4.
  other.write("snapshot.4", snapshot_bytes({}, 4));
  EXPECT_THAT(zxids_and_flaws(DataFiles({leader.path(), other.path()}), flaws),
              ElementsAre(1, 2, 3, 4, epoch + 1));
}

TEST(TransactionReader, NamesGaps) {
  const LogDirectory directory;
  constexpr std::int64_t epoch = std::int64_t{1} << 32U;
  directory.write("log.1", log_of({1, 2, 5}));
  directory.write("log.100000001", log_of({epoch + 1, epoch + 2}));
  directory.write("log.300000002", log_of({3 * epoch + 2}));
  const auto reading = read(DataFiles({directory.path()}));
  ASSERT_EQ(reading.flaws.size(), 2U);
  EXPECT_EQ(reading.flaws[0].kind, Flaw::Kind::Gap);
  EXPECT_EQ(reading.flaws[0].after, 2);
  EXPECT_EQ(reading.flaws[0].before, 5);
  EXPECT_EQ(reading.flaws[1].before, 3 * epoch + 2);
}

TEST(TransactionReader, JoinsOverlappingLogsThatAgree) {
  const LogDirectory one;
  const LogDirectory two;
  one.write("log.1", log_of({1, 2, 3}));
  one.write("log.6", log_of({6, 7}));
  two.write("log.2", log_of({2, 3, 4, 5, 6}));
  const auto reading = read(DataFiles({one.path(), two.path()}));
  EXPECT_THAT(reading.zxids, ElementsAre(1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(reading.flaws, IsEmpty());
}

TEST(TransactionReader, RefusesLogsThatDiffer) {
  const LogDirectory one;
  const LogDirectory two;
  one.write("log.1", log_of({1, 2, 3}));
  two.write("log.2", log_of({2, 3}, "other"));
  EXPECT_THROW(read(DataFiles({one.path(), two.path()})), Error);
}

TEST(TransactionReader, PassesOverZxidsOutOfOrder) {
  const LogDirectory directory;
  directory.write("log.1", log_of({1, 2, 2, 1, 3}));
  const auto reading = read(DataFiles({directory.path()}));
  EXPECT_THAT(reading.zxids, ElementsAre(1, 2, 3));
  ASSERT_EQ(reading.flaws.size(), 1U);
  EXPECT_EQ(reading.flaws[0].kind, Flaw::Kind::Unordered);
}

TEST(TransactionReader, WhatIsWrittenAgainIsHarmlessIfItGoesOnToTheLast) {
  const LogDirectory directory;
  for (const auto& zxids : std::vector<std::vector<std::int64_t>>{
           {1, 2, 3, 4, 2, 3, 4, 5}, {1, 1, 2, 2, 3, 3}, {1, 2, 1, 2, 1, 2, 3}}) {
    directory.write("log.1", log_of(zxids));
    const auto reading = read(DataFiles({directory.path()}));
    EXPECT_TRUE(std::ranges::is_sorted(reading.zxids));
    EXPECT_THAT(reading.flaws, IsEmpty());
  }
  for (const auto& zxids :
       std::vector<std::vector<std::int64_t>>{{1, 2, 3, 4, 2, 3, 5}, {1, 3, 2}}) {
    directory.write("log.1", log_of(zxids));
    const auto reading = read(DataFiles({directory.path()}));
    ASSERT_FALSE(reading.flaws.empty());
    EXPECT_EQ(reading.flaws.back().kind, Flaw::Kind::Unordered);
  }
}

TEST(TransactionReader, AnEmptyLogIsHarmlessOnlyAtTheEnd) {
  const LogDirectory directory;
  directory.write("log.1", log_of({1}));
  directory.write("log.2", "");
  EXPECT_THAT(read(DataFiles({directory.path()})).flaws, IsEmpty());
  directory.write("log.3", log_of({2}));
  EXPECT_EQ(read(DataFiles({directory.path()})).flaws.size(), 1U);
}

TEST(TransactionReader, FollowsFromLogToLog) {
  const LogDirectory directory;
  directory.write("log.1", log_of({1}));
  DataFiles files({directory.path()});
  TransactionReader reader(files, INT64_MIN, [](const Flaw&) { ADD_FAILURE(); });
  LoggedTransaction txn;
  EXPECT_TRUE(reader.next(txn, true));
  EXPECT_FALSE(reader.next(txn, true));
  directory.write("log.1", log_of({1, 2}));
  EXPECT_TRUE(reader.next(txn, true));
  directory.write("log.1", log_of({1, 2, 3}));
  directory.write("log.4", "");
  files.refresh();
  EXPECT_TRUE(reader.next(txn, true));
  EXPECT_EQ(txn.zxid, 3);
  EXPECT_FALSE(reader.next(txn, true));
  directory.write("log.4", log_of({4}));
  EXPECT_TRUE(reader.next(txn, true));
  EXPECT_EQ(txn.zxid, 4);
}

TEST(DataFiles, AStopEndsTheLookForWhatWasAgreedOn) {
  const LogDirectory one;
  const LogDirectory other;
  one.write("log.1", log_of({1, 2, 3}));
  other.write("log.1", log_of({1, 2, 3}));
  std::stop_source stop;
  const DataFiles files({one.path(), other.path()}, stop.get_token());
  stop.request_stop();
  EXPECT_THROW(files.was_agreed(3), Cancelled);
}

TEST(DataFiles, SaysWhatIsWrongWithAPlace) {
  const LogDirectory directory;
  EXPECT_THROW(DataFiles({directory.path() + "/none"}), ValueError);
  EXPECT_THROW(DataFiles({directory.path()}), ValueError);
  EXPECT_THROW(DataFiles({directory.write("notes", "nothing of ZooKeeper")}), ValueError);
  const auto log = directory.write("any name", log_of({5}));
  EXPECT_EQ(DataFiles({log}).logs().at(0).zxid, 5);
}

}  // namespace
}  // namespace zksh
