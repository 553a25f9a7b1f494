// A contender whose turn has come holds the lock only while its session is proven to be alive.
#include "recipe_trial.h"
#include "recipes/recipe.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace zksh {
namespace {

RecipeMaker fair() {
  return [](Client& client, Fiber& fiber, const RecipeReport& report, std::string owner) {
    return make_recipe(client, fiber, report, {.paths = {"/l"}, .owner = std::move(owner)});
  };
}

std::size_t checks_of(const TrialContender& contender) {
  return static_cast<std::size_t>(std::ranges::count_if(
      contender.steps, [](const std::string& step) { return step.starts_with("multi: check"); }));
}

TEST(LockLease, a_session_that_is_proven_costs_nothing) {
  FakeTree tree;
  TrialContender one(tree, fair(), "one");
  one.take();
  EXPECT_EQ(checks_of(one), 0U);
}

TEST(LockLease, transactions_renew_a_lease_that_has_ended_before_the_lock_is_held) {
  FakeTree tree;
  TrialContender one(tree, fair(), "one");
  TrialContender two(tree, fair(), "two");
  one.take();
  two.wait();
  two.client.end_lease(2);
  one.give_back();
  EXPECT_TRUE(two.run());
  two.result();
  EXPECT_TRUE(two.holds());
  EXPECT_EQ(checks_of(two), 1U)
      << "besides the one ahead of the listing, whose answer nobody awaits";
}

TEST(LockLease, a_listing_of_a_server_that_lags_behind_is_not_believed) {
  FakeTree tree;
  TrialContender one(tree, fair(), "one");
  TrialContender two(tree, fair(), "two");
  one.take();
  two.wait();
  two.client.end_lease(2);
  // The session ends after the listing has come, which still shows the node: at the second check.
  one.give_back();
  two.client.lose(3, FakeClient::When::BeforeItIsApplied, FakeClient::Loss::OfSession);
  EXPECT_TRUE(two.run());
  two.result();
  EXPECT_TRUE(two.holds()) << "in a new session";
  ASSERT_EQ(two.warnings.size(), 1U);
  EXPECT_NE(two.warnings.front().find("the session ended"), std::string::npos)
      << two.warnings.front();
}

TEST(LockLease, a_lease_that_cannot_be_renewed_ends_at_the_deadline) {
  FakeTree tree;
  TrialContender one(tree, fair(), "one");
  one.client.end_lease(1'000'000);
  one.begin_acquire(Clock::now() + std::chrono::milliseconds(200));
  EXPECT_TRUE(one.run());
  EXPECT_NE(one.failure<LockBusy>(), "");
  EXPECT_FALSE(one.holds());
  EXPECT_TRUE(one.nodes().empty());
}

}  // namespace
}  // namespace zksh
