// LockQueue: who precedes whom, and who waits for whom.
#include "recipes/lock_queue.h"

#include "lock_nodes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace zksh {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string node(char contender, std::string_view tag, std::int64_t sequence) {
  return fmt::format("_c_{}-{}{:010}", guid(contender), tag, sequence);
}

/// The contenders' digits in order, readers as they are, writers with a capital letter.
std::string order(const LockQueue& queue) {
  std::string text;
  for (const auto& contender : queue.contenders) {
    const char digit = contender.key().front();
    text += contender.mode == LockMode::Shared ? digit : static_cast<char>(std::toupper(digit));
  }
  return text;
}

/// For each contender, the place of the one that it waits for, "-" for a holder.
std::string waits(const LockQueue& queue) {
  std::string text;
  for (std::size_t i = 0; i < queue.contenders.size(); ++i) {
    const auto before = queue.predecessor(i);
    text += before ? std::to_string(*before) : "-";
    EXPECT_EQ(queue.holds(i), !before);
  }
  return text;
}

TEST(LockQueue, IsInTheOrderOfTheNumbersWhateverTheListing) {
  std::vector<std::string> names;
  names.reserve(200);
  for (int i = 0; i < 200; ++i)
    names.push_back(fmt::format("_c_{}-lock-{:010}", fresh_guid(), i * 7));
  auto shuffled = names;
  std::ranges::shuffle(shuffled, std::mt19937(1));  // NOLINT: a fixed seed, to fail again alike
  const auto queue = make_lock_queue(shuffled);
  ASSERT_EQ(queue.contenders.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i)
    EXPECT_EQ(queue.contenders[i].nodes.front().text, names[i]);
}

TEST(LockQueue, TheTextBeforeTheNumberDoesNotCount) {
  const auto queue = make_lock_queue({"x-01000013edec1a67-0000000003", node('f', "lock-", 1),
                                      "00000000000000000000000000000000__lock__0000000002"});
  EXPECT_EQ(queue.contenders[0].key(), guid('f'));
  EXPECT_EQ(queue.contenders[2].key(), "x-01000013edec1a67-0000000003");
}

TEST(LockQueue, NodesOfOneGuidAreOneContenderAtItsLowestNumber) {
  const auto queue = make_lock_queue({node('a', "__lock__", 7), node('b', "lock-", 6),
                                      node('a', "lock-", 5), node('a', "__WRIT__", 8)});
  EXPECT_EQ(order(queue), "AB");
  EXPECT_EQ(queue.contenders[0].sequence, 5);
  std::vector<std::int32_t> numbers;
  for (const auto& name : queue.contenders[0].nodes) numbers.push_back(name.sequence);
  EXPECT_THAT(numbers, ElementsAre(5, 7, 8));
}

TEST(LockQueue, OneNodeThatReadsMakesAReader) {
  const auto queue =
      make_lock_queue({node('a', "lock-", 1), node('a', "__READ__", 2), node('a', "__rlock__", 3)});
  EXPECT_EQ(order(queue), "a");
}

TEST(LockQueue, ExclusiveContendersWaitForTheOneBefore) {
  const auto queue =
      make_lock_queue({node('a', "lock-", 1), node('b', "lock-", 2), node('c', "__WRIT__", 3)});
  EXPECT_EQ(waits(queue), "-01");
}

TEST(LockQueue, ReadersWaitForTheNearestWriterAndWritersForAnybody) {
  const auto queue =
      make_lock_queue({node('a', "__READ__", 1), node('b', "__READ__", 2), node('c', "__WRIT__", 3),
                       node('d', "__WRIT__", 4), node('e', "__READ__", 5), node('f', "__READ__", 6),
                       node('0', "__WRIT__", 7)});
  EXPECT_EQ(order(queue), "abCDef0");
  EXPECT_EQ(waits(queue), "--12335");
}

TEST(LockQueue, AReaderIsNotPassedByALaterReaderBehindAWriter) {
  const auto queue = make_lock_queue(
      {node('a', "__READ__", 1), node('b', "__WRIT__", 2), node('c', "__READ__", 3)});
  EXPECT_EQ(waits(queue), "-01");
}

TEST(LockQueue, WithEqualNumbersTheWriterIsFirst) {
  // Curator's downgrade makes the reader's node with the writer's number.
  const auto queue = make_lock_queue({node('a', "__READ__", 4), node('b', "__WRIT__", 4)});
  EXPECT_EQ(order(queue), "Ba");
}

TEST(LockQueue, AWrappedCounterGoesOnInSerialNumberArithmetic) {
  const auto queue =
      make_lock_queue({node('c', "lock-", -2147483647), node('a', "lock-", 2147483646),
                       node('d', "lock-", -2147483640), node('b', "lock-", 2147483647)});
  EXPECT_EQ(order(queue), "ABCD");
}

TEST(LockQueue, AtTheEndOfTheCounterTheOrderOfCreationDecides) {
  const std::vector<std::string> names{node('a', "lock-", 2147483647),
                                       node('b', "lock-", 2147483647),
                                       node('c', "lock-", 2147483646)};
  EXPECT_TRUE(order_needs_stats(names));
  const auto queue = make_lock_queue(names, {{names[0], 30}, {names[1], 20}, {names[2], 10}});
  EXPECT_EQ(order(queue), "CBA");
  EXPECT_EQ(queue.contenders[0].czxid, 10);
}

TEST(LockQueue, AContenderIsAsOldAsItsOldestNode) {
  const std::vector<std::string> names{node('a', "lock-", 2147483647),
                                       node('a', "__WRIT__", 2147483647),
                                       node('b', "lock-", 2147483647)};
  const auto queue = make_lock_queue(names, {{names[0], 10}, {names[1], 10}, {names[2], 9}});
  EXPECT_EQ(order(queue), "BA");
}

TEST(LockQueue, NamesTellTheOrderUntilTheLastNumber) {
  EXPECT_FALSE(order_needs_stats({node('a', "lock-", 2147483646), "config"}));
  EXPECT_TRUE(order_needs_stats({node('a', "lock-", 2147483647)}));
  EXPECT_TRUE(order_needs_stats({node('a', "lock-", -5)}));
  EXPECT_FALSE(order_needs_stats({}));
}

TEST(LockQueue, OtherChildrenAreKeptApart) {
  const auto queue = make_lock_queue({"config", node('a', "lock-", 1), "!"});
  EXPECT_THAT(queue.others, ElementsAre("config", "!"));
  EXPECT_EQ(queue.contenders.size(), 1U);
  EXPECT_THAT(make_lock_queue({}).contenders, IsEmpty());
}

TEST(LockQueue, AnUnknownSequentialChildCountsAsExclusive) {
  const auto queue = make_lock_queue({"job0000000001", node('a', "__READ__", 2)});
  EXPECT_EQ(waits(queue), "-0");
}

TEST(LockQueue, IndexByKey) {
  const auto queue = make_lock_queue({node('a', "lock-", 1), node('b', "lock-", 2)});
  EXPECT_EQ(queue.index_of(guid('b')), 1U);
  EXPECT_EQ(queue.index_of(guid('c')), std::nullopt);
}

}  // namespace
}  // namespace zksh
