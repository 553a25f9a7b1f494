// contention_statistics: times, handoffs and overlaps of invented turns.
#include "lock/contention.h"

#include <gtest/gtest.h>

namespace zksh {
namespace {

using namespace std::chrono_literals;

Clock::time_point at(int ms) { return Clock::time_point(1h + std::chrono::milliseconds(ms)); }

ContenderTurn turn(std::size_t contender, int asked, int acquired, int releasing,
                   LockMode mode = LockMode::Exclusive) {
  return {.contender = contender,
          .mode = mode,
          .asked = at(asked),
          .acquired = at(acquired),
          .releasing = at(releasing),
          .released = at(releasing + 1)};
}

ContenderTurn read(std::size_t contender, int asked, int acquired, int releasing) {
  return turn(contender, asked, acquired, releasing, LockMode::Shared);
}

ContentionStatistics statistics(std::vector<ContenderTurn> turns) {
  return contention_statistics(
      {.turns = std::move(turns), .began = at(0), .ended = at(1000), .events = {}, .failure = {}});
}

TEST(ContentionStatistics, AHandoffIsFromTheReleaseToTheNextWhoWaited) {
  const auto of = statistics({turn(1, 0, 13, 20), turn(0, 0, 5, 10), turn(2, 1, 25, 30)});
  EXPECT_EQ(of.acquisitions, 3U);
  EXPECT_EQ(of.handoff.count, 2U);
  EXPECT_EQ(of.handoff.median, 3ms);
  EXPECT_EQ(of.handoff.longest, 5ms);
  EXPECT_EQ(of.acquire.longest, 24ms);
  EXPECT_EQ(of.release.longest, 1ms);
  EXPECT_EQ(of.took, 1s);
}

TEST(ContentionStatistics, WhoAskedLaterWasHandedNothing) {
  EXPECT_EQ(statistics({turn(0, 0, 5, 10), turn(1, 11, 13, 20)}).handoff.count, 0U);
}

TEST(ContentionStatistics, ReadersAreHandedTheLockByTheWriterBefore) {
  const auto of =
      statistics({turn(0, 0, 5, 10), read(1, 0, 12, 30), read(2, 0, 14, 20), turn(3, 1, 37, 40)});
  EXPECT_EQ(of.handoff.count, 3U);
  EXPECT_EQ(of.handoff.median, 4ms) << "2, 4, and 7 from the reader that held longest";
  EXPECT_EQ(of.handoff.longest, 7ms);
  EXPECT_EQ(of.together, 2U);
  EXPECT_EQ(of.overlap_count, 0U);
}

TEST(ContentionStatistics, TheNinetyNinthPercentileIsANearestRank) {
  std::vector<ContenderTurn> turns;
  turns.reserve(200);
  for (int i = 0; i < 200; ++i) turns.push_back(turn(0, i * 2, i * 2 + (i < 3 ? 2 : 1), i * 2 + 2));
  EXPECT_EQ(statistics(turns).acquire.p99, 2ms);
  turns[0].acquired -= 1ms;
  EXPECT_EQ(statistics(turns).acquire.p99, 1ms) << "2 of 200 took longer";
}

TEST(ContentionStatistics, TwoWhoHoldTogetherOverlap) {
  const auto of = statistics({turn(0, 0, 5, 20), turn(1, 0, 19, 30), turn(2, 0, 30, 31)});
  EXPECT_EQ(of.overlap_count, 1U);
  ASSERT_EQ(of.overlaps.size(), 1U);
  EXPECT_EQ(of.overlaps[0].first.contender, 0U);
  EXPECT_EQ(of.overlaps[0].second.contender, 1U);
  EXPECT_EQ(of.together, 2U);
}

TEST(ContentionStatistics, AnOverlapIsFoundBehindAShorterHolder) {
  const auto of = statistics({turn(0, 0, 5, 100), turn(1, 0, 6, 7), turn(2, 0, 50, 60)});
  EXPECT_EQ(of.overlap_count, 2U);
}

TEST(ContentionStatistics, AReaderOverlapsWithAWriterOnly) {
  EXPECT_EQ(statistics({read(0, 0, 5, 20), read(1, 0, 6, 30)}).overlap_count, 0U);
  EXPECT_EQ(statistics({read(0, 0, 5, 20), turn(1, 0, 19, 30)}).overlap_count, 1U);
  EXPECT_EQ(statistics({turn(0, 0, 5, 20), read(1, 0, 19, 30)}).overlap_count, 1U);
}

TEST(ContentionStatistics, OnlyTheFirstOverlapsAreKept) {
  std::vector<ContenderTurn> turns;
  for (std::size_t i = 0; i < 30; ++i) turns.push_back(turn(i, 0, 5, 20));
  const auto of = statistics(turns);
  EXPECT_EQ(of.overlap_count, 29U);
  EXPECT_EQ(of.overlaps.size(), 5U);
  EXPECT_EQ(of.together, 30U);
}

TEST(ContentionStatistics, ALostTurnDoesNotOverlap) {
  auto lost = turn(0, 0, 5, 500);
  lost.lost = true;
  const auto of = statistics({lost, turn(1, 0, 100, 110)});
  EXPECT_EQ(of.overlap_count, 0U);
  EXPECT_EQ(of.lost, 1U);
}

TEST(ContentionStatistics, TurnsWithoutAnEndCountAsFarAsTheyWent) {
  ContenderTurn waited{.contender = 1, .asked = at(1)};
  ContenderTurn held{.contender = 2, .asked = at(1), .acquired = at(50)};
  const auto of = statistics({turn(0, 0, 5, 20), waited, held});
  EXPECT_EQ(of.acquisitions, 2U);
  EXPECT_EQ(of.handoff.longest, 30ms);
  EXPECT_EQ(of.release.count, 1U);
}

TEST(ContentionStatistics, EventsBelongToTheReleaseBeforeThem) {
  const auto of = contention_statistics({.turns = {turn(0, 0, 5, 10), turn(1, 0, 15, 20)},
                                         .began = at(0),
                                         .ended = at(30),
                                         .events = {at(11), at(21), at(12), at(13), at(22)},
                                         .failure = {}});
  EXPECT_EQ(of.events, 5U);
  EXPECT_EQ(of.events_at_once, 3U);
}

TEST(ContentionStatistics, NothingIsNothing) {
  const auto of = statistics({});
  EXPECT_EQ(of.acquisitions, 0U);
  EXPECT_EQ(of.handoff.count, 0U);
  EXPECT_EQ(of.together, 0U);
}

}  // namespace
}  // namespace zksh
