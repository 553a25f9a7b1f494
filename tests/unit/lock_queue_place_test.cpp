// plain_place: agrees with LockQueue, or leaves the answer to it.
#include "recipes/lock_queue.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace zksh {
namespace {

std::string plain(std::int32_t sequence) {
  return fmt::format("_c_{}-lock-{:010}", fresh_guid(), sequence);
}

void expect_same(const std::vector<std::string>& names, const std::string& own) {
  const auto quick = plain_place(names, own);
  const auto queue = make_lock_queue(names);
  const auto index = queue.index_of(parse_lock_name(own)->key());
  ASSERT_TRUE(quick && index) << own;
  const auto whole = queue.place(*index);
  EXPECT_EQ(quick->position, whole.position);
  EXPECT_EQ(quick->count, whole.count);
  EXPECT_EQ(quick->first_node, whole.first_node);
  EXPECT_EQ(quick->predecessor_node, whole.predecessor_node);
  EXPECT_EQ(quick->watched_node, whole.watched_node);
}

TEST(PlainPlace, AgreesWithTheWholeQueue) {
  std::mt19937 random(20241121);
  std::uniform_int_distribution<std::int32_t> any_sequence(0, INT32_MAX / 2);
  for (const std::size_t count : {1U, 2U, 3U, 17U, 200U}) {
    std::set<std::int32_t> sequences;
    while (sequences.size() < count) sequences.insert(any_sequence(random));
    std::vector<std::string> names;
    names.reserve(count);
    for (const auto sequence : sequences) names.push_back(plain(sequence));
    std::ranges::shuffle(names, random);
    for (const auto& own : names) expect_same(names, own);
  }
}

TEST(PlainPlace, FirstAndLast) {
  const std::vector<std::string> names{plain(7), plain(3), plain(12)};
  EXPECT_EQ(plain_place(names, names[1])->predecessor_node, "");
  EXPECT_EQ(plain_place(names, names[1])->position, 1U);
  EXPECT_EQ(plain_place(names, names[2])->predecessor_node, names[0]);
  EXPECT_EQ(plain_place(names, names[2])->first_node, names[1]);
  EXPECT_EQ(plain_place(names, names[2])->position, 3U);
}

TEST(PlainPlace, LeavesEverythingElseToTheQueue) {
  const auto own = plain(5);
  const auto guid = own.substr(3, 36);
  const std::vector<std::string> others{
      fmt::format("_c_{}-__WRIT__0000000001", fresh_guid()),
      fmt::format("_c_{}-__READ__0000000001", fresh_guid()),
      "3f2504e04f8911d39a0c0305e82c3301__lock__0000000001",
      "x-0123456789abcdef-0000000001",
      "note",
      "lock-0000000001",
      plain(INT32_MAX),
      fmt::format("_c_{}-lock--000000005", fresh_guid()),
      fmt::format("_c_{}-lock-0000000001", guid),
  };
  for (const auto& other : others) EXPECT_FALSE(plain_place({own, other}, own)) << other;
  EXPECT_FALSE(plain_place({plain(1), plain(9)}, own)) << "the own node is not there";
  EXPECT_FALSE(plain_place({}, own));
  EXPECT_FALSE(plain_place({"lock-0000000005"}, "lock-0000000005"));
}

TEST(Place, OfAReaderIsBehindTheNearestWriter) {
  const auto name = [](std::string_view tag, int sequence) {
    return fmt::format("_c_{}-{}{:010}", fresh_guid(), tag, sequence);
  };
  const std::vector<std::string> names{name("__READ__", 0), name("__WRIT__", 1),
                                       name("__READ__", 2), name("__READ__", 3)};
  const auto queue = make_lock_queue(names);
  const auto place = queue.place(3);
  EXPECT_EQ(place.position, 4U);
  EXPECT_EQ(place.first_node, names[0]);
  EXPECT_EQ(place.predecessor_node, names[1]);
  EXPECT_EQ(queue.place(0).predecessor_node, "");
}

TEST(Place, WatchesTheNodeThatADowngradeReplaces) {
  const auto guid = fresh_guid();
  const auto own = plain(9);
  const auto queue = make_lock_queue({fmt::format("_c_{}-lock-0000000001", guid),
                                      fmt::format("_c_{}-__WRIT__0000000002", guid),
                                      fmt::format("_c_{}-__lock__0000000003", guid), own});
  const auto place = queue.place(1);
  EXPECT_EQ(place.predecessor_node, fmt::format("_c_{}-lock-0000000001", guid));
  EXPECT_EQ(place.watched_node, fmt::format("_c_{}-__WRIT__0000000002", guid));
  EXPECT_EQ(place.count, 2U);
}

}  // namespace
}  // namespace zksh
