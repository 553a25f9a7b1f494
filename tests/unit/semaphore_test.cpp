// Semaphore: never more leases than there are, never a part of a request, the same number for
// everybody.
#include "fake_client.h"
#include "recipe_trial.h"
#include "recipes/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace zksh {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct LeaseWish {
  int count = 3;
  int quantity = 1;
  bool try_only = false;
  bool requeue = true;
};

RecipeMaker leases(LeaseWish wish) {
  return [wish](Client& client, Fiber& fiber, const RecipeReport& report,
                const std::string& owner) -> std::unique_ptr<Recipe> {
    LockRequest request{.paths = {"/s"}, .recipe = RecipeKind::Semaphore};
    request.owner = owner;
    request.try_only = wish.try_only;
    request.requeue = wish.requeue;
    request.leases = wish.count;
    request.quantity = wish.quantity;
    return make_recipe(client, fiber, report, request);
  };
}

class SemaphoreTest : public testing::Test {
 protected:
  using Contender = std::unique_ptr<TrialContender>;

  Contender contender(const std::string& name, LeaseWish wish = {}) {
    return std::make_unique<TrialContender>(tree, leases(wish), name);
  }
  Contender holder(const std::string& name, LeaseWish wish = {}) {
    auto made = contender(name, wish);
    made->take();
    return made;
  }
  Contender waiting(const std::string& name, LeaseWish wish = {}) {
    auto made = contender(name, wish);
    made->wait();
    return made;
  }
  std::vector<std::string> children(const std::string& path) {
    return tree.monitor()
        .with_lock([&](const Monitor::Held&) { return tree.children(path); })
        .value.names.strings();
  }
  std::string data(const std::string& path) {
    return tree.monitor()
        .with_lock([&](const Monitor::Held&) { return tree.get(path); })
        .value.data.value_or("null");
  }
  void create(const std::string& path, const std::string& value) {
    tree.monitor().change(
        [&](const Monitor::Held& held) { tree.create(held, {.path = path, .data = value}, 0); });
  }
  void set(const std::string& path, const std::string& value) {
    tree.monitor().change(
        [&](const Monitor::Held& held) { tree.set(held, {.path = path, .data = value}); });
  }
  void remove(const std::string& path) {
    tree.monitor().change([&](const Monitor::Held& held) { tree.remove(held, {.path = path}); });
  }

  FakeTree tree;
};

TEST_F(SemaphoreTest, KeepsItsNumberInTheNode) {
  const auto us = holder("us");
  EXPECT_EQ(data("/s"), "3");
  EXPECT_THAT(us->nodes(), SizeIs(1));
  EXPECT_THAT(us->nodes().front(), testing::StartsWith("/s/leases/_c_"));
  EXPECT_THAT(children("/s/locks"), IsEmpty());
}

TEST_F(SemaphoreTest, TheFourthOfThreeWaits) {
  const std::vector<Contender> three = [&] {
    std::vector<Contender> made;
    for (const auto* const name : {"a", "b", "c"}) made.push_back(holder(name));
    return made;
  }();
  const auto fourth = waiting("fourth");
  ASSERT_THAT(fourth->places, SizeIs(1));
  const auto& place = fourth->places.front();
  EXPECT_EQ(place.leases.all, 3);
  EXPECT_EQ(place.leases.taken, 3);
  EXPECT_EQ(place.holder, "a");
  EXPECT_THAT(children("/s/leases"), SizeIs(3));  // it adds none to those that Curator counts
  three[1]->give_back();
  ASSERT_TRUE(fourth->run());
  fourth->result();
  EXPECT_THAT(children("/s/leases"), SizeIs(3));
}

TEST_F(SemaphoreTest, OnlyTheFirstWhoWaitsWatchesTheLeases) {
  const auto a = holder("a", {.count = 1});
  const auto first = waiting("first", {.count = 1});
  const auto second = waiting("second", {.count = 1});
  const auto seen = second->client.requests();
  EXPECT_EQ(second->places.front().position, 2U);
  EXPECT_EQ(second->places.front().predecessor, "first");
  a->give_back();
  EXPECT_FALSE(second->go());
  EXPECT_EQ(second->client.requests(), seen);
  ASSERT_TRUE(first->run());
  EXPECT_FALSE(second->go());  // it has the queue's first place now, and no lease
  EXPECT_EQ(second->places.back().leases.taken, 1);
  first->give_back();
  ASSERT_TRUE(second->run());
  EXPECT_TRUE(second->holds());
}

TEST_F(SemaphoreTest, WhatWasWrittenToTheWaitersNodeIsInItsLeases) {
  const auto a = holder("a", {.count = 1});
  const auto b = waiting("b", {.count = 1});
  ASSERT_THAT(children("/s/locks"), SizeIs(1));
  set("/s/locks/" + children("/s/locks").front(), "a request");
  a->give_back();
  ASSERT_TRUE(b->run());
  b->result();
  ASSERT_THAT(children("/s/leases"), SizeIs(1));
  EXPECT_EQ(data("/s/leases/" + children("/s/leases").front()), "a request");
  EXPECT_THAT(children("/s/locks"), IsEmpty());
}

TEST_F(SemaphoreTest, SeveralLeasesAreTakenTogetherOrNotAtAll) {
  const auto a = holder("a", {.quantity = 2});
  EXPECT_THAT(a->nodes(), SizeIs(2));
  const auto b = waiting("b", {.quantity = 2});
  EXPECT_THAT(children("/s/leases"), SizeIs(2));
  EXPECT_EQ(b->places.front().leases.wanted, 2);
  create("/s/leases/another", "x");
  EXPECT_FALSE(b->go());
  remove("/s/leases/another");
  EXPECT_FALSE(b->go());
  EXPECT_THAT(b->places, SizeIs(1)) << "told of each change";
  a->give_back();
  ASSERT_TRUE(b->run());
  EXPECT_THAT(b->nodes(), SizeIs(2));
  const auto node = b->nodes().front();
  const auto token =
      tree.monitor().with_lock([&](const Monitor::Held&) { return tree.exists(node).value.czxid; });
  EXPECT_EQ(b->recipe->holding().token, token);
  b->give_back();
  EXPECT_THAT(children("/s/leases"), IsEmpty());
}

TEST_F(SemaphoreTest, AnotherNumberIsRefusedBeforeAnythingIsWritten) {
  const auto a = holder("a");
  const auto before = all_nodes(tree);
  const auto us = contender("us", {.count = 5});
  us->begin_acquire();
  ASSERT_TRUE(us->run());
  EXPECT_THAT(us->failure<ValueError>(), HasSubstr("/s is a semaphore of 3, not 5"));
  EXPECT_EQ(all_nodes(tree), before);
}

TEST_F(SemaphoreTest, OtherDataAreNotOverwritten) {
  for (const std::string value : {"hello", "3 apples", " 3", "-", "99999999999999999999"}) {
    create("/s", value);
    const auto us = contender("us");
    us->begin_acquire();
    ASSERT_TRUE(us->run());
    EXPECT_THAT(us->failure<ValueError>(), HasSubstr("is not a semaphore")) << value;
    EXPECT_EQ(data("/s"), value);
    EXPECT_THAT(children("/s"), IsEmpty());
    remove("/s");
  }
}

TEST_F(SemaphoreTest, ANodeWithoutDataBecomesOne) {
  create("/s", "");  // as Curator makes it
  holder("us");
  EXPECT_EQ(data("/s"), "3");
}

TEST_F(SemaphoreTest, OfTwoFirstOnesWithTwoNumbersOneIsRefused) {
  constexpr std::size_t requests = 12;  // of one alone, and a few more
  for (std::size_t request = 1; request <= requests; ++request) {
    FakeTree fresh;
    TrialContender first(fresh, leases({}), "first");
    TrialContender second(fresh, leases({.count = 5}), "second");
    first.client.before_request(request, [&] {
      second.begin_acquire();
      second.go();
    });
    first.begin_acquire();
    ASSERT_TRUE(first.run());
    const bool refused = !first.failure<ValueError>().empty();
    if (second.fiber.ended() && second.holds()) {
      EXPECT_TRUE(refused) << request;
      EXPECT_THAT(first.nodes(), IsEmpty());
    }
    EXPECT_FALSE(first.holds() && second.holds()) << request;
    if (!second.fiber.ended()) second.run();
  }
}

TEST_F(SemaphoreTest, ANumberThatIsChangedMeanwhileIsNoticedBeforeItIsHeld) {
  const auto us = contender("us");
  us->client.before_request(8, [&] { set("/s", "5"); });
  us->begin_acquire();
  ASSERT_TRUE(us->run());
  EXPECT_THAT(us->failure<ValueError>(), HasSubstr("of 5, not 3"));
  EXPECT_THAT(us->nodes(), IsEmpty());
}

TEST_F(SemaphoreTest, ATryThatFailsLeavesNoTrace) {
  const auto a = holder("a", {.count = 1});
  const auto before = all_nodes(tree);
  const auto writes = tree.monitor().with_lock(
      [&](const Monitor::Held&) { return tree.children("/s/locks").value.stat.cversion; });
  const auto us = contender("us", {.count = 1, .try_only = true});
  us->begin_acquire();
  ASSERT_TRUE(us->run());
  EXPECT_EQ(us->failure<LockBusy>(), "/s is busy: 1 of 1 leases are taken");
  EXPECT_EQ(all_nodes(tree), before);
  EXPECT_EQ(tree.monitor()
                .with_lock([&](const Monitor::Held&) { return tree.children("/s/locks"); })
                .value.stat.cversion,
            writes);
  EXPECT_EQ(us->client.watches(), 0U);
}

TEST_F(SemaphoreTest, ATryTakesWhatIsFree) {
  const auto a = holder("a");
  const auto us = holder("us", {.try_only = true});
  EXPECT_TRUE(us->holds());
}

TEST_F(SemaphoreTest, ATryDoesNotWaitBehindOneWhoWaitsForMore) {
  const auto a = holder("a", {.quantity = 2});
  const auto greedy = waiting("greedy", {.quantity = 3});
  const auto us = contender("us", {.try_only = true});
  const auto begun = Clock::now();
  us->begin_acquire();
  while (!us->go())  // the tree changes no more: only the time passes
    tree.monitor().wait_until({}, us->fiber.deadline(), [](const Monitor::Held&) { return false; });
  EXPECT_EQ(us->failure<LockBusy>(), "/s was not acquired in time");
  EXPECT_LT(Clock::now() - begun, 60s);
  EXPECT_THAT(us->nodes(), IsEmpty());
  EXPECT_EQ(us->client.watches(), 0U);
}

TEST_F(SemaphoreTest, TheDeadlineLeavesNothing) {
  const auto a = holder("a", {.count = 1});
  const auto us = contender("us", {.count = 1});
  us->begin_acquire(Clock::now() + 1ms);
  while (!us->go())
    tree.monitor().wait_until({}, us->fiber.deadline(), [](const Monitor::Held&) { return false; });
  EXPECT_EQ(us->failure<LockBusy>(), "/s was not acquired in time: 1 of 1 leases are taken");
  EXPECT_THAT(us->nodes(), IsEmpty());
  EXPECT_EQ(us->client.watches(), 0U);
}

TEST_F(SemaphoreTest, ACancelLeavesNothing) {
  const auto a = holder("a", {.count = 1});
  const auto us = waiting("us", {.count = 1});
  us->fiber.cancel();
  ASSERT_TRUE(us->run());
  EXPECT_THROW(us->result(), Cancelled);
  EXPECT_THAT(us->nodes(), IsEmpty());
  EXPECT_EQ(us->client.watches(), 0U);
}

TEST_F(SemaphoreTest, WhoseMutexIsRemovedByHandQueuesUpAgain) {
  const auto a = holder("a", {.count = 1});
  const auto us = waiting("us", {.count = 1});
  remove(us->nodes().front());
  const auto other = waiting("other", {.count = 1});
  a->give_back();
  // Both believed to be first; whoever is slower sees that there is too much.
  ASSERT_TRUE(other->run());
  EXPECT_TRUE(other->holds());
  EXPECT_FALSE(us->go());
  EXPECT_THAT(us->warnings, ElementsAre(HasSubstr("its node was deleted")));
  EXPECT_THAT(children("/s/leases"), SizeIs(1));
  other->give_back();
  ASSERT_TRUE(us->run());
  EXPECT_TRUE(us->holds());
}

TEST_F(SemaphoreTest, WithoutRequeueTheEndOfTheSessionIsTheEnd) {
  const auto a = holder("a", {.count = 1});
  const auto us = waiting("us", {.count = 1, .requeue = false});
  us->client.expire();
  ASSERT_TRUE(us->run());
  EXPECT_THAT(us->failure<LockLost>(), HasSubstr("/s is lost"));
  EXPECT_THAT(us->nodes(), IsEmpty());
}

TEST_F(SemaphoreTest, LeasesThatSomebodyMakesWithoutTheMutexCount) {
  const auto us = contender("us", {.count = 1});
  holder("before", {.count = 1});  // so that the nodes are there
  us->client.before_request(5, [&] { create("/s/leases/foreign", "x"); });
  us->begin_acquire();
  EXPECT_FALSE(us->go());
  EXPECT_FALSE(us->holds());
  EXPECT_THAT(children("/s/leases"), ElementsAre("foreign"));
  remove("/s/leases/foreign");
  ASSERT_TRUE(us->run());
  EXPECT_TRUE(us->holds());
}

/// Eight contenders take and give back, each step of each in turn.
TEST_F(SemaphoreTest, NeverMoreThanThere) {
  constexpr int contenders = 8;
  std::vector<Contender> all;
  all.reserve(contenders);
  for (int i = 0; i < contenders; ++i)
    all.push_back(
        contender(std::string(1, static_cast<char>('a' + i)), {.count = 3, .quantity = 1 + i % 2}));
  std::vector<int> rounds(all.size());
  const auto held = [&] {
    std::size_t sum = 0;
    for (const auto& one : all)
      if (one->holds()) sum += one->recipe->holding().nodes.size();
    return sum;
  };
  for (const auto& one : all) one->begin_acquire();
  std::size_t most = 0;
  for (int step = 0; step < 10'000; ++step) {
    const auto at = static_cast<std::size_t>(step * 5) % all.size();
    auto& one = *all[at];
    if (!one.go()) continue;
    most = std::max(most, held());
    ASSERT_LE(held(), 3U);
    one.result();
    if (one.holds()) {
      one.begin_release();
    } else if (rounds[at] < 20) {
      ++rounds[at];
      one.begin_acquire();
    }
  }
  EXPECT_EQ(most, 3U);
  EXPECT_THAT(rounds, testing::Each(20));
}

}  // namespace
}  // namespace zksh
