// LogFile: what is damaged is named and passed over, and what is intact behind it is read.
#include "txnlog/log_file.h"

#include "base/error.h"
#include "txnlog/transaction.h"
#include "txnlog_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace zksh {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Reading {
  std::vector<std::int64_t> zxids{};
  std::vector<Flaw::Kind> flaws{};
  std::vector<Flaw> all{};
};

Reading read(const std::string& bytes, bool grows = false) {
  const LogDirectory directory;
  Reading reading;
  LogFile log(directory.write("log.1", bytes), [&](const Flaw& flaw) {
    reading.flaws.push_back(flaw.kind);
    reading.all.push_back(flaw);
  });
  while (const auto record = log.next(grows)) reading.zxids.push_back(zxid_of(record->body));
  return reading;
}

std::vector<std::string> sets(std::int64_t from, std::int64_t to, std::size_t size = 5) {
  std::vector<std::string> bodies;
  for (auto zxid = from; zxid <= to; ++zxid)
    bodies.push_back(set_body(zxid, "/a", std::string(size, 'x'), static_cast<int>(zxid)));
  return bodies;
}

std::size_t record_size(std::size_t data = 5) { return log_record(sets(1, 1, data)[0]).size(); }

TEST(LogFile, EndsAtZerosOrTheEnd) {
  for (const std::size_t zeros : {0U, 5U, 1000U, 1U << 20U}) {
    const auto reading = read(log_bytes(sets(1, 3), zeros));
    EXPECT_THAT(reading.zxids, ElementsAre(1, 2, 3));
    EXPECT_THAT(reading.flaws, IsEmpty());
  }
}

TEST(LogFile, PassesOverOneFlippedByte) {
  auto bytes = log_bytes(sets(1, 4), 100);
  bytes[16 + record_size() + 40] ^= 1;
  const auto reading = read(bytes);
  EXPECT_THAT(reading.zxids, ElementsAre(1, 3, 4));
  ASSERT_THAT(reading.flaws, ElementsAre(Flaw::Kind::Checksum));
  EXPECT_EQ(reading.all[0].offset, 16 + record_size());
  EXPECT_EQ(reading.all[0].bytes, record_size());
  EXPECT_EQ(reading.all[0].after, 1);
  EXPECT_EQ(reading.all[0].before, 3);
}

TEST(LogFile, PassesOverTheLastRecord) {
  auto bytes = log_bytes(sets(1, 2), 100);
  bytes[16 + record_size() + 40] ^= 1;
  const auto reading = read(bytes);
  EXPECT_THAT(reading.zxids, ElementsAre(1));
  EXPECT_THAT(reading.flaws, ElementsAre(Flaw::Kind::Checksum));
}

TEST(LogFile, FindsTheNextRecordBehindABadLength) {
  for (const int length : {-5, 0x7fffffff, 7, 1 << 20}) {
    auto bytes = log_bytes(sets(1, 5), 300);
    bytes.replace(16 + record_size() + 8, 4, jute_int(length));
    const auto reading = read(bytes);
    EXPECT_THAT(reading.zxids, ElementsAre(1, 3, 4, 5)) << length;
    EXPECT_EQ(reading.flaws.size(), 1U) << length;
  }
}

TEST(LogFile, FindsWhatFollowsAHole) {
  auto bytes = log_bytes(sets(1, 200), 64);
  for (std::size_t i = 4096; i < 8192; ++i) bytes[i] = '\0';  // a lost page
  const auto reading = read(bytes);
  EXPECT_EQ(reading.zxids.front(), 1);
  EXPECT_EQ(reading.zxids.back(), 200);
  EXPECT_GT(reading.zxids.size(), 200 - 4096 / record_size() - 3);
  ASSERT_EQ(reading.flaws.size(), 1U);
  EXPECT_EQ(reading.all[0].before - reading.all[0].after - 1,
            200 - static_cast<std::int64_t>(reading.zxids.size()));
}

TEST(LogFile, NamesDataAfterTheEnd) {
  const auto reading = read(log_bytes(sets(1, 2), 500) + "no record");
  EXPECT_THAT(reading.zxids, ElementsAre(1, 2));
  EXPECT_THAT(reading.flaws, ElementsAre(Flaw::Kind::AfterEnd));
}

TEST(LogFile, FindsRecordsAfterZeros) {
  const auto more = log_bytes(sets(7, 8)).substr(16);
  const auto reading = read(log_bytes(sets(1, 2), 700'001) + more);
  EXPECT_THAT(reading.zxids, ElementsAre(1, 2, 7, 8));
  EXPECT_THAT(reading.flaws, ElementsAre(Flaw::Kind::AfterEnd));
}

TEST(LogFile, ATornTailIsHarmlessBeforeZerosOnly) {
  const auto whole = log_bytes(sets(1, 3));
  for (std::size_t cut = 1; cut < record_size(); ++cut) {
    for (const std::size_t zeros : {0U, 100U}) {
      const auto torn = whole.substr(0, whole.size() - cut) + std::string(zeros, '\0');
      const auto reading = read(torn);
      EXPECT_THAT(reading.zxids, ElementsAre(1, 2)) << cut << ' ' << zeros;
      for (const auto& flaw : reading.all)
        EXPECT_EQ(flaw.harmless, zeros > 0) << cut << ' ' << flaw_text(flaw);
    }
  }
}

TEST(LogFile, AnUnfinishedHeader) {
  for (const std::string bytes : {"", "ZK", "ZKLG\0\0\0\2"}) {
    EXPECT_THAT(read(bytes).flaws,
                ElementsAre(bytes.empty() ? Flaw::Kind::Empty : Flaw::Kind::NoHeader));
    EXPECT_THAT(read(bytes, true).flaws, IsEmpty());
  }
  EXPECT_THAT(read("something else entirely").flaws, ElementsAre(Flaw::Kind::NotALog));
}

TEST(LogFile, ReadsBehindADamagedHeader) {
  auto bytes = log_bytes(sets(1, 3), 100);
  for (const std::size_t damaged : {4U, 16U}) {
    bytes.replace(0, damaged, std::string(damaged, damaged == 16 ? '\0' : 'X'));
    const auto reading = read(bytes);
    EXPECT_THAT(reading.zxids, ElementsAre(1, 2, 3));
    EXPECT_THAT(reading.flaws, ElementsAre(Flaw::Kind::BadHeader));
  }
  EXPECT_THAT(read(std::string(1 << 20, '\0')).flaws, ElementsAre(Flaw::Kind::NoHeader));
}

TEST(LogFile, AValueThatLooksLikeARecordIsNoRecord) {
  // The flipped byte is in the outer record, whose length still leads behind the inner one.
  const auto inner = log_record(set_body(9, "/inner", "x", 1));
  auto bytes = log_bytes(
      {set_body(1, "/a", "b", 1), set_body(2, "/a", inner, 2), set_body(3, "/a", "c", 3)});
  bytes[16 + log_record(set_body(1, "/a", "b", 1)).size() + 20] ^= 1;
  EXPECT_THAT(read(bytes).zxids, ElementsAre(1, 3));
}

TEST(LogFile, ReadsLongRecords) {
  const auto reading = read(log_bytes(sets(1, 3, 3U << 20U), 10));
  EXPECT_THAT(reading.zxids, ElementsAre(1, 2, 3));
  EXPECT_THAT(reading.flaws, IsEmpty());
}

TEST(LogFile, GrowsWhileItIsRead) {
  const LogDirectory directory;
  const auto whole = log_bytes(sets(1, 3));
  std::vector<Flaw::Kind> flaws;
  const auto path = directory.write("log.1", "");
  LogFile log(path, [&](const Flaw& flaw) { flaws.push_back(flaw.kind); });
  std::vector<std::int64_t> zxids;
  for (std::size_t size = 0; size <= whole.size(); size += 7) {
    // As a server does: the bytes come before the zeros' end, in no record's rhythm.
    directory.write("log.1", whole.substr(0, size) + std::string(whole.size() + 50 - size, '\0'));
    while (const auto record = log.next(true)) zxids.push_back(zxid_of(record->body));
  }
  directory.write("log.1", whole);
  while (const auto record = log.next(false)) zxids.push_back(zxid_of(record->body));
  EXPECT_THAT(zxids, ElementsAre(1, 2, 3));
  EXPECT_THAT(flaws, IsEmpty());
}

TEST(LogFile, BytesThatResembleRecordsCostNoMoreThanTheirLength) {
  std::string bait;
  for (int i = 0; i < 20000; ++i) bait += jute_long(1) + jute_int(300'000) + "BBBB";
  const auto began = std::chrono::steady_clock::now();
  const auto reading = read(log_bytes(sets(1, 1)) + jute_long(5) + jute_int(-1) + bait);
  EXPECT_THAT(reading.zxids, ElementsAre(1));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
}

TEST(LogFile, CannotBeOpened) { EXPECT_THROW(LogFile("/nonexistent/log.1", {}), ValueError); }

}  // namespace
}  // namespace zksh
