// Contention: contenders in one process against an in-memory tree: turns, failures, stops.
#include "lock/contention.h"

#include "fake_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace zksh {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class ContentionTest : public testing::Test {
 protected:
  ContentionTest() { plan.request.paths = {"/lock"}; }

  ContentionResult run(const std::stop_token& stop = {}) {
    return contend(plan, {&client}, report, stop);
  }
  std::vector<std::string> nodes_left() {
    return client.children("/lock", Watch::none(), {}).names.strings();
  }

  FakeTree tree;
  FakeClient client{tree};
  ContentionPlan plan;
  ContentionReport report;
};

std::vector<std::size_t> contenders_of(const std::vector<ContenderTurn>& turns) {
  std::vector<std::size_t> numbers;
  numbers.reserve(turns.size());
  for (const auto& turn : turns) numbers.push_back(turn.contender);
  return numbers;
}

TEST_F(ContentionTest, EachContenderHasItsTurnsAndNothingIsLeft) {
  for (const auto recipe : {RecipeKind::Fair, RecipeKind::Herd}) {
    plan.request.recipe = recipe;
    plan.contenders = 7;
    plan.rounds = 3;
    const auto result = run();
    EXPECT_EQ(result.failure, nullptr);
    ASSERT_EQ(result.turns.size(), 21U);
    for (std::size_t i = 0; i < 7; ++i)
      EXPECT_EQ(std::ranges::count(contenders_of(result.turns), i), 3);
    for (const auto& turn : result.turns) {
      EXPECT_LE(result.began, turn.asked);
      EXPECT_LT(turn.asked, turn.acquired);
      EXPECT_LE(turn.acquired, turn.releasing);
      EXPECT_LT(turn.releasing, turn.released);
      EXPECT_LE(turn.released, result.ended);
      EXPECT_FALSE(turn.lost);
    }
    EXPECT_EQ(contention_statistics(result).overlap_count, 0U);
    EXPECT_THAT(nodes_left(), ElementsAre());
  }
}

TEST_F(ContentionTest, AFairLockIsAcquiredInTheOrderInWhichItWasAskedFor) {
  plan.contenders = 20;
  plan.hold = 1ms;
  auto turns = run().turns;
  std::ranges::sort(turns, {}, &ContenderTurn::acquired);
  EXPECT_TRUE(std::ranges::is_sorted(contenders_of(turns)));
}

TEST_F(ContentionTest, AFairReleaseWakesOneWhereAHerdWakesAll) {
  plan.contenders = 10;
  plan.hold = 1ms;
  const auto fair = run();
  EXPECT_EQ(fair.events.size(), 9U);
  EXPECT_EQ(fair.requests, 2U + 2 + 10 * 3 + 9 * 2) << "the missing lock node costs the first four";
  plan.request.recipe = RecipeKind::Herd;
  EXPECT_GE(run().events.size(), 45U);
}

TEST_F(ContentionTest, ReadersAreSpreadAmongTheWriters) {
  plan.contenders = 6;
  plan.readers = 2;
  plan.request.read_write = true;
  plan.hold = 1ms;
  const auto result = run();
  std::set<std::size_t> readers;
  for (const auto& turn : result.turns)
    if (turn.mode == LockMode::Shared) readers.insert(turn.contender);
  EXPECT_THAT(readers, ElementsAre(2U, 5U));
  EXPECT_EQ(contention_statistics(result).overlap_count, 0U);
}

TEST_F(ContentionTest, ReadersHoldTogether) {
  plan.contenders = 5;
  plan.readers = 5;
  plan.request.read_write = true;
  plan.hold = 1s;
  EXPECT_EQ(contention_statistics(run()).together, 5U);
}

TEST_F(ContentionTest, ContendersAreSpreadOverTheClients) {
  FakeClient other(tree);
  plan.contenders = 4;
  plan.hold = 1ms;
  const auto before = client.requests();
  const auto result = contend(plan, {&client, &other}, report, {});
  EXPECT_EQ(result.turns.size(), 4U);
  EXPECT_GT(client.requests() - before, 5U);
  EXPECT_GT(other.requests(), 5U);
  EXPECT_EQ(contention_statistics(result).overlap_count, 0U);
}

TEST_F(ContentionTest, AStopMakesAllLeaveTheQueue) {
  plan.contenders = 5;
  plan.hold = 1h;
  std::stop_source stop;
  std::size_t steps = 0;
  report.step = [&](std::size_t contender, const std::string& text) {
    // The last one is in the queue.
    if (contender == 4 && text.find("with a watch") != std::string::npos) stop.request_stop();
    ++steps;
  };
  const auto result = run(stop.get_token());
  EXPECT_EQ(result.failure, nullptr);
  const auto statistics = contention_statistics(result);
  EXPECT_EQ(statistics.acquisitions, 1U);
  EXPECT_EQ(result.turns.size(), 5U);
  EXPECT_EQ(statistics.release.count, 1U) << "who held gives the lock back";
  EXPECT_GT(steps, 10U);
  EXPECT_THAT(nodes_left(), ElementsAre());
}

TEST_F(ContentionTest, WhenOneFailsTheOthersLeaveAndTheFailureIsTold) {
  client.create({.path = "/lock", .data = {}}, {});
  plan.contenders = 5;
  plan.hold = 1h;
  // Two contenders are in the queue; the third cannot make its node.
  client.fail_request(6, FakeClient::When::BeforeItIsApplied, code::no_auth);
  const auto result = run();
  ASSERT_NE(result.failure, nullptr);
  try {
    std::rethrow_exception(result.failure);
  } catch (const ZkError& error) {
    EXPECT_EQ(error.code(), code::no_auth);
  }
  EXPECT_THAT(nodes_left(), ElementsAre());
}

std::string failure_of(const ContentionResult& result) {
  try {
    if (result.failure) std::rethrow_exception(result.failure);
  } catch (const LockBusy& error) {
    return error.what();
  }
  return {};
}

TEST_F(ContentionTest, WithoutAnAnswerItEndsInTime) {
  plan.contenders = 1;
  plan.patience = 50ms;
  plan.leave_patience = 10ms;
  client.lose(5, FakeClient::When::AfterItWasApplied, FakeClient::Loss::OfConnection);
  const auto result = run();
  EXPECT_EQ(failure_of(result),
            "/lock: nobody acquired or released the lock for 50ms; 1 contender could not leave "
            "the queue: no server answers");
}

TEST_F(ContentionTest, BehindSomebodyElseItEndsInTime) {
  client.create({.path = "/lock", .data = {}}, {});
  FakeClient other(tree);
  other.create(
      {.path = "/lock/_c_0-lock-", .data = {}, .mode = CreateMode::Ephemeral, .sequential = true},
      {});
  plan.contenders = 3;
  plan.patience = 50ms;
  const auto result = run();
  EXPECT_EQ(failure_of(result),
            "/lock: nobody acquired or released the lock for 50ms; all contenders have left "
            "the queue");
  EXPECT_EQ(nodes_left().size(), 1U);
}

TEST_F(ContentionTest, ALockThatVanishesWhileItIsHeldIsLost) {
  plan.contenders = 1;
  plan.hold = 5ms;
  report.step = [&](std::size_t, const std::string& text) {
    // Once it is held: somebody deletes its node.
    if (!text.starts_with("getChildren") || text.find("NoNode") != std::string::npos) return;
    for (const auto& name : nodes_left()) client.remove({.path = "/lock/" + name}, {});
  };
  const auto result = run();
  ASSERT_EQ(result.turns.size(), 1U);
  EXPECT_TRUE(result.turns[0].lost);
}

}  // namespace
}  // namespace zksh
