// MultiLock: all or none, and no deadlocks.
#include "fake_client.h"
#include "recipe_trial.h"
#include "recipes/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace zksh {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Property;
using testing::SizeIs;
using testing::Throws;

using Paths = std::vector<std::string>;

struct Wish {
  bool atomic = false;
  bool try_only = false;
  bool requeue = true;
  std::optional<Compat> compat{};
};

RecipeMaker locks(const Paths& paths, Wish wish) {
  return [=](Client& client, Fiber& fiber, const RecipeReport& report,
             const std::string& owner) -> std::unique_ptr<Recipe> {
    LockRequest request{.paths = paths, .recipe = RecipeKind::Multi, .atomic = wish.atomic};
    request.owner = owner;
    request.try_only = wish.try_only;
    request.requeue = wish.requeue;
    request.compat = wish.compat;
    return make_recipe(client, fiber, report, request);
  };
}

RecipeMaker plain(const std::string& path) {
  return [=](Client& client, Fiber& fiber, const RecipeReport& report,
             const std::string& owner) -> std::unique_ptr<Recipe> {
    LockRequest request{.paths = {path}};
    request.owner = owner;
    return make_recipe(client, fiber, report, request);
  };
}

class MultiLockTest : public testing::TestWithParam<bool> {
 protected:
  using Contender = std::unique_ptr<TrialContender>;

  Contender contender(const std::string& name, const RecipeMaker& make) {
    return std::make_unique<TrialContender>(tree, make, name);
  }
  Contender holder(const std::string& name, const RecipeMaker& make) {
    auto made = contender(name, make);
    made->take();
    return made;
  }
  Contender waiting(const std::string& name, const RecipeMaker& make) {
    auto made = contender(name, make);
    made->wait();
    return made;
  }
  static void run_to_deadline(TrialContender& contender) {
    while (!contender.go())
      contender.tree.monitor().wait_until({}, contender.fiber.deadline(),
                                          [](const Monitor::Held&) { return false; });
  }
  std::size_t children(const std::string& path) {
    return tree.monitor()
        .with_lock([&](const Monitor::Held&) { return tree.children(path); })
        .value.names.size();
  }
  std::int64_t czxid(const std::string& path) {
    return tree.monitor()
        .with_lock([&](const Monitor::Held&) { return tree.exists(path); })
        .value.czxid;
  }
  void remove(const std::string& path) {
    tree.monitor().change([&](const Monitor::Held& held) { tree.remove(held, {.path = path}); });
  }
  static void expect_nothing_left(TrialContender& contender) {
    EXPECT_THAT(contender.nodes(), IsEmpty());
    EXPECT_EQ(contender.client.watches(), 0U);
  }

  FakeTree tree;
  Wish wish{.atomic = GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Kinds, MultiLockTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "atomic" : "in_order"; });

TEST_P(MultiLockTest, NodesAndTokensAreInTheGivenOrder) {
  const auto us = holder("us", locks({"/c", "/a", "/b"}, wish));
  const auto& holding = us->recipe->holding();
  ASSERT_THAT(holding.nodes, SizeIs(3));
  EXPECT_THAT(holding.nodes, ElementsAre(testing::StartsWith("/c/"), testing::StartsWith("/a/"),
                                         testing::StartsWith("/b/")));
  ASSERT_THAT(holding.tokens, SizeIs(3));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(holding.tokens[i], czxid(holding.nodes[i]));
  EXPECT_EQ(holding.token, holding.tokens[0]);
  EXPECT_EQ(holding.tokens[0] == holding.tokens[1], GetParam());
  us->give_back();
  expect_nothing_left(*us);
}

TEST_P(MultiLockTest, OneTokenForAPathWithSeveralNodes) {
  wish.compat = Compat::All;
  const auto us = holder("us", locks({"/b", "/a"}, wish));
  EXPECT_THAT(us->recipe->holding().nodes, SizeIs(6));
  EXPECT_THAT(us->recipe->holding().tokens, SizeIs(2));
}

TEST_P(MultiLockTest, WaitsForEachAndSaysWhere) {
  const auto other = holder("other", plain("/b"));
  const auto us = waiting("us", locks({"/a", "/b"}, wish));
  ASSERT_THAT(us->places, SizeIs(1));
  EXPECT_EQ(us->places.front().path, "/b");
  EXPECT_EQ(us->places.front().predecessor, "other");
  other->give_back();
  ASSERT_TRUE(us->run());
  EXPECT_TRUE(us->holds());
  const auto next = waiting("next", plain("/a"));
  us->give_back();
  ASSERT_TRUE(next->run());
}

TEST_P(MultiLockTest, ATryNamesTheOneThatIsBusyAndLeavesNoTrace) {
  const auto other = holder("other", plain("/b"));
  const auto before = all_nodes(tree);
  wish.try_only = true;
  const auto us = contender("us", locks({"/a", "/b"}, wish));
  us->begin_acquire();
  ASSERT_TRUE(us->run());
  EXPECT_EQ(us->failure<LockBusy>(), "/b is busy");
  EXPECT_THAT([&us] { us->result(); }, Throws<LockBusy>(Property(&LockBusy::holder, "other")));
  EXPECT_EQ(all_nodes(tree), before);
  expect_nothing_left(*us);
}

TEST_P(MultiLockTest, TheDeadlineNamesTheOneThatIsBusyAndLeavesNothing) {
  const auto other = holder("other", plain("/b"));
  const auto us = contender("us", locks({"/a", "/b"}, wish));
  us->begin_acquire(Clock::now() + 1ms);
  run_to_deadline(*us);
  EXPECT_EQ(us->failure<LockBusy>(), "/b was not acquired in time");
  EXPECT_THAT([&us] { us->result(); }, Throws<LockBusy>(Property(&LockBusy::holder, "other")));
  expect_nothing_left(*us);
}

TEST_P(MultiLockTest, ACancelLeavesNothing) {
  const auto other = holder("other", plain("/b"));
  const auto us = waiting("us", locks({"/a", "/b"}, wish));
  us->fiber.cancel();
  ASSERT_TRUE(us->run());
  EXPECT_THROW(us->result(), Cancelled);
  expect_nothing_left(*us);
}

TEST_P(MultiLockTest, OneThatIsLostWhileAnotherIsWaitedForIsAskedForAgain) {
  const auto other = holder("other", plain("/b"));
  const auto us = waiting("us", locks({"/a", "/b"}, wish));
  remove(us->nodes().front());
  const auto thief = holder("thief", plain("/a"));
  other->give_back();
  EXPECT_FALSE(us->go());
  EXPECT_FALSE(us->holds());
  EXPECT_THAT(us->warnings, SizeIs(1));
  thief->give_back();
  ASSERT_TRUE(us->run());
  EXPECT_TRUE(us->holds());
}

TEST_P(MultiLockTest, OrIsTheEndWithoutRequeue) {
  const auto other = holder("other", plain("/b"));
  wish.requeue = false;
  const auto us = waiting("us", locks({"/a", "/b"}, wish));
  remove(us->nodes().front());
  other->give_back();
  ASSERT_TRUE(us->run());
  EXPECT_THAT(us->failure<LockLost>(), HasSubstr("/a /b is lost"));
  expect_nothing_left(*us);
}

TEST_P(MultiLockTest, PlacesThatAreLostAgainAndAgainAreAskedForMoreAndMoreSlowly) {
  const auto us = contender("us", locks({"/a", "/b"}, wish));
  for (std::size_t number = 1; number <= 1000; ++number)
    us->client.before_request(number, [&] {
      for (const auto& node : us->nodes()) remove(node);
    });
  us->begin_acquire(Clock::now() + 300ms);
  run_to_deadline(*us);
  EXPECT_THAT(us->failure<LockBusy>(), HasSubstr("again and again"));
  EXPECT_THAT(us->warnings.size(), testing::AllOf(testing::Ge(2), testing::Le(7)));  // 10 to 160 ms
  expect_nothing_left(*us);
}

TEST_P(MultiLockTest, OneThatWasLostIsToldAtTheRelease) {
  const auto us = holder("us", locks({"/a", "/b"}, wish));
  remove(us->recipe->holding().nodes.back());
  us->begin_release();
  ASSERT_TRUE(us->run());
  EXPECT_FALSE(us->released_in_time());
  expect_nothing_left(*us);
}

TEST_P(MultiLockTest, TakesTheNamesOfAllLibrariesWhereOthersWouldNotSeeIt) {
  tree.monitor().change([&](const Monitor::Held& held) {
    tree.create(held, {.path = "/b", .data = ""}, 0);
    tree.create(held,
                {.path = "/b/0123456789abcdef0123456789abcdef__lock__",
                 .data = "kazoo",
                 .sequential = true},
                0);
  });
  const auto us = waiting("us", locks({"/a", "/b"}, wish));
  EXPECT_THAT(us->nodes(), SizeIs(6));
  EXPECT_THAT(us->warnings, testing::Contains(HasSubstr("--compat all")));
  remove("/b/0123456789abcdef0123456789abcdef__lock__0000000000");
  ASSERT_TRUE(us->run());
  EXPECT_TRUE(us->holds());
}

class MixedKinds : public MultiLockTest {};

INSTANTIATE_TEST_SUITE_P(Kinds, MixedKinds, testing::Values(false));

TEST_P(MixedKinds, WhoGoesInOrderGivesWayToWhoJoinedAllQueuesAtOnce) {
  const auto other = holder("other", plain("/b"));
  // In order: holds /a, and waits for /b.  The atomic one is then behind it in both.
  const auto ordered = waiting("ordered", locks({"/a", "/b"}, {}));
  const auto atomic = waiting("atomic", locks({"/a", "/b"}, {.atomic = true}));
  other->give_back();
  ASSERT_TRUE(ordered->run());
  EXPECT_FALSE(atomic->go());
  ordered->give_back();
  ASSERT_TRUE(atomic->run());
  // The other way round: the atomic one comes between its steps.
  atomic->give_back();
  const auto late = contender("late", locks({"/a", "/b"}, {.atomic = true}));
  const auto early = contender("early", locks({"/a", "/b"}, {}));
  early->client.before_request(3, [&] {  // it has /a, and has not asked for /b
    late->begin_acquire();
    EXPECT_FALSE(late->go());
  });
  early->begin_acquire();
  EXPECT_FALSE(early->go());
  EXPECT_FALSE(early->holds());
  EXPECT_THAT(early->nodes(), IsEmpty()) << "it waits, and holds something";
  ASSERT_TRUE(late->run());
  EXPECT_TRUE(late->holds());
  late->give_back();
  ASSERT_TRUE(early->run());
  EXPECT_TRUE(early->holds());
  early->give_back();
  EXPECT_EQ(early->client.watches(), 0U);
}

/// Contenders of both kinds for overlapping sets of locks, in orders of their own, each step of
/// each at random: in the end each has had its turns, and no lock had two holders.
TEST_P(MixedKinds, NoDeadlockAndNoOverlap) {
  constexpr int wanted = 15;
  constexpr int steps = 200'000;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    FakeTree fresh;
    std::mt19937 random(seed);
    Paths all{"/a", "/b", "/c", "/d"};
    struct Party {
      Paths paths;
      Contender contender;
      int turns = 0;
      bool leaving = false;  // its nodes may be gone, though it has not heard of it
    };
    std::vector<Party> parties;
    for (int i = 0; i < 6; ++i) {
      std::ranges::shuffle(all, random);
      Paths paths(all.begin(), all.begin() + 2 + i % 2);
      auto one = std::make_unique<TrialContender>(fresh, locks(paths, {.atomic = i % 2 == 0}),
                                                  std::string(1, static_cast<char>('p' + i)));
      one->client.hold_back();
      one->begin_acquire();
      parties.push_back({std::move(paths), std::move(one)});
    }
    const auto overlap = [&] {
      Paths held;
      for (const auto& party : parties)
        if (party.contender->holds() && !party.leaving)
          held.insert(held.end(), party.paths.begin(), party.paths.end());
      std::ranges::sort(held);
      return std::ranges::adjacent_find(held) != held.end();
    };
    int left = static_cast<int>(parties.size()) * wanted;
    for (int step = 0; step < steps && left > 0; ++step) {
      auto& party = parties[random() % parties.size()];
      auto& one = *party.contender;
      one.client.deliver();
      if (!one.go() || party.turns == wanted) continue;
      ASSERT_FALSE(overlap());
      one.result();
      if (one.holds()) {
        one.begin_release();
        party.leaving = true;
        continue;
      }
      --left;
      party.leaving = false;
      if (++party.turns < wanted) one.begin_acquire();
    }
    ASSERT_EQ(left, 0) << "they wait for each other";
  }
}

}  // namespace
}  // namespace zksh
