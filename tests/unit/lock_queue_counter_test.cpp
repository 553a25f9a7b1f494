// The sequence counter of a lock's node: an order for any numbers, and a warning before its end.
#include "recipe_trial.h"
#include "recipes/lock_queue.h"
#include "recipes/recipe.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace zksh {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::int32_t> order_of(const std::vector<std::string>& names) {
  std::vector<std::int32_t> order;
  for (const auto& contender : make_lock_queue(names).contenders)
    order.push_back(contender.sequence);
  return order;
}

TEST(LockCounter, NumbersFarApartAreInTheirOrder) {
  EXPECT_THAT(order_of({"lock-2147483646", "lock-0000000000", "lock-1500000000"}),
              ElementsAre(0, 1500000000, 2147483646));
}

TEST(LockCounter, AnOverflowIsWrittenWithElevenCharactersAndComesLater) {
  EXPECT_THAT(order_of({"lock--2147483648", "lock-2147483647", "lock--2147483600"}),
              ElementsAre(INT32_MAX, INT32_MIN, -2147483600));
  EXPECT_THAT(order_of({"lock-0000000002", "lock--000000003"}), ElementsAre(-3, 2))
      << "the counter has gone all the way round";
}

TEST(LockCounter, ElevenDigitsAreNoNumberOfAServer) {
  const auto queue = make_lock_queue({"lock-12345678901", "lock-0000000001"});
  EXPECT_EQ(queue.contenders.size(), 1U);
  EXPECT_THAT(queue.others, ElementsAre("lock-12345678901"));
}

/// Three numbers, each before the next on the circle, have no order in RFC 1982; sorting many of
/// them by it would run out of bounds.
TEST(LockCounter, ForgedNumbersAllRoundTheCircleHaveAnOrder) {
  std::vector<std::string> names;
  constexpr std::uint32_t third_of_the_circle = UINT32_MAX / 3;
  for (std::uint32_t i = 0; i < 300; ++i)
    names.push_back(
        fmt::format("n{}-lock-{:010}", i, static_cast<std::int32_t>(i * third_of_the_circle + i)));
  const auto queue = make_lock_queue(names);
  auto again = names;
  std::ranges::reverse(again);
  const auto other = make_lock_queue(again);
  ASSERT_EQ(queue.contenders.size(), names.size());
  for (std::size_t i = 0; i < queue.contenders.size(); ++i)
    EXPECT_EQ(queue.contenders[i].key(), other.contenders[i].key());
}

std::unique_ptr<Recipe> fair(Client& client, Fiber& fiber, const RecipeReport& report,
                             const std::string& owner) {
  return make_recipe(client, fiber, report, {.paths = {"/locks/l"}, .owner = owner});
}

/// Servers may hide the Stat of a node, or be too busy: whichever request they refuse.
TEST(LockCounter, WhoseAgeCannotBeReadIsNotOvertaken) {
  std::size_t failures = 0;
  for (std::size_t number = 1; number <= 12; ++number) {
    FakeTree tree;
    TrialContender first(tree, fair, "first");
    first.take();
    tree.monitor().change([&](const Monitor::Held& held) {
      tree.set_counter(held, "/locks/l", INT32_MAX);  // from the next on, czxids decide
    });
    TrialContender second(tree, fair, "second");
    second.client.fail_request(number, FakeClient::When::BeforeItIsApplied, code::no_auth);
    second.begin_acquire();
    second.run([&] {
      if (first.holds()) first.give_back();
    });
    EXPECT_FALSE(first.holds() && second.holds()) << number;
    failures += second.failure<ZkError>().empty() ? 0 : 1;
  }
  EXPECT_GT(failures, 0U);
}

TEST(LockCounter, WhoQueuesUpNearItsEndIsToldOnce) {
  FakeTree tree;
  TrialContender first(tree, fair, "first");
  first.take();
  EXPECT_THAT(first.warnings, IsEmpty());
  tree.monitor().change(
      [&](const Monitor::Held& held) { tree.set_counter(held, "/locks/l", 2'000'000'000); });
  TrialContender second(tree, fair, "second");
  second.begin_acquire();
  second.run([&] {
    if (!first.holds()) return;
    first.begin_release();
    first.run();
  });
  second.result();
  EXPECT_TRUE(second.holds());
  EXPECT_THAT(second.warnings,
              ElementsAre(AllOf(HasSubstr("/locks/l: "), HasSubstr("almost exhausted"),
                                HasSubstr("use a new lock node"))));
  second.begin_release();
  second.run();
}

}  // namespace
}  // namespace zksh
