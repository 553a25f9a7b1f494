// Recipes: whatever is lost at any moment, one contender holds the lock, and none leaves anything
// behind.
#include "fake_client.h"
#include "recipe_trial.h"
#include "recipes/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {
namespace {

using testing::IsEmpty;
using Loss = FakeClient::Loss;
using When = FakeClient::When;

constexpr std::array losses{Loss::OfAnswer, Loss::OfConnection, Loss::OfSession,
                            Loss::OfSessionUnburied};
constexpr std::chrono::milliseconds age_of_rival{25'000};
constexpr std::array moments{When::BeforeItIsApplied, When::AfterItWasApplied};

struct Fault {
  std::size_t request;
  When when;
  Loss loss;
};

std::string in_words(const std::vector<Fault>& faults) {
  std::string text;
  for (const auto& fault : faults)
    text += "request " + std::to_string(fault.request) +
            (fault.when == When::BeforeItIsApplied ? " before" : " after") + " loss " +
            std::to_string(static_cast<int>(fault.loss)) + "; ";
  return text;
}

struct Case {
  std::string name;
  RecipeMaker make;
  bool shares = false;  ///< two may hold
};

RecipeMaker of_kind(RecipeKind kind, const LockRequest& request) {
  return [kind, request](Client& client, Fiber& fiber, const RecipeReport& report,
                         const std::string& owner) {
    auto mine = request;
    mine.paths = {"/locks/l"};
    mine.recipe = kind;
    mine.owner = owner;
    return make_recipe(client, fiber, report, mine);
  };
}

RecipeMaker of_leases(int count, int quantity) {
  return [=](Client& client, Fiber& fiber, const RecipeReport& report, const std::string& owner) {
    LockRequest request{.paths = {"/locks/l"}, .recipe = RecipeKind::Semaphore};
    request.owner = owner;
    request.leases = count;
    request.quantity = quantity;
    return make_recipe(client, fiber, report, request);
  };
}

RecipeMaker of_locks(bool atomic) {
  return [=](Client& client, Fiber& fiber, const RecipeReport& report, const std::string& owner) {
    LockRequest request{.paths = {"/locks/n", "/locks/m"}, .recipe = RecipeKind::Multi};
    request.owner = owner;
    request.atomic = atomic;
    return make_recipe(client, fiber, report, request);
  };
}

/// The same with servers before 3.5.
RecipeMaker of_old(const RecipeMaker& make) {
  return
      [make](Client& client, Fiber& fiber, const RecipeReport& report, const std::string& owner) {
        dynamic_cast<FakeClient&>(client).serve_as_old();
        return make(client, fiber, report, owner);
      };
}

/// The same far from the servers, where requests are sent ahead.
RecipeMaker of_far(const RecipeMaker& make) {
  return
      [make](Client& client, Fiber& fiber, const RecipeReport& report, const std::string& owner) {
        dynamic_cast<FakeClient&>(client).serve_from_afar();
        return make(client, fiber, report, owner);
      };
}

std::vector<Case> cases() {
  const LockRequest write{.paths = {}, .read_write = true};
  const LockRequest read{.paths = {}, .mode = LockMode::Shared, .read_write = true};
  const LockRequest all{.paths = {}, .compat = Compat::All};
  const LockRequest all_read{
      .paths = {}, .mode = LockMode::Shared, .read_write = true, .compat = Compat::All};
  const LockRequest kazoo{.paths = {}, .compat = Compat::Kazoo};
  return {{"fair", of_kind(RecipeKind::Fair, {})},
          {"write", of_kind(RecipeKind::Fair, write)},
          {"read", of_kind(RecipeKind::Fair, read), true},
          {"all", of_kind(RecipeKind::Fair, all)},
          {"all_read", of_kind(RecipeKind::Fair, all_read), true},
          {"kazoo", of_kind(RecipeKind::Fair, kazoo)},
          {"herd", of_kind(RecipeKind::Herd, {})},
          {"exclusive", of_kind(RecipeKind::Exclusive, {})},
          {"semaphore_of_1", of_leases(1, 1)},
          {"semaphore_of_2", of_leases(2, 1), true},
          {"leases_2_of_3", of_leases(3, 2)},
          {"locks_in_order", of_locks(false)},
          {"locks_at_once", of_locks(true)},
          {"fair_old", of_old(of_kind(RecipeKind::Fair, {}))},
          {"exclusive_old", of_old(of_kind(RecipeKind::Exclusive, {}))},
          {"leases_2_of_3_old", of_old(of_leases(3, 2))},
          {"locks_in_order_old", of_old(of_locks(false))},
          {"fair_far", of_far(of_kind(RecipeKind::Fair, {}))},
          {"leases_2_of_3_far", of_far(of_leases(3, 2))},
          {"locks_in_order_far", of_far(of_locks(false))}};
}

class RecipeFaults : public testing::TestWithParam<Case> {
 protected:
  /// Nobody else has the lock, and all that is ours is what we say we hold.
  static void expect_held(TrialContender& us) {
    auto claimed = us.recipe->holding().nodes;
    const auto first = claimed.front();
    std::ranges::sort(claimed);
    ASSERT_EQ(us.nodes(), claimed);
    for (const auto& node : claimed) {
      const auto stat = us.tree.monitor().with_lock(
          [&](const Monitor::Held&) { return us.tree.exists(node).value; });
      EXPECT_EQ(stat.ephemeral_owner, us.client.session_id());
      if (node == first) {
        EXPECT_EQ(stat.czxid, us.recipe->holding().token);
      }
    }
    EXPECT_EQ(us.recipe->holding().session, us.client.session_id());
  }

  /// Acquires and releases once, while `rival` (may be null) holds the lock at first. Returns how
  /// many requests that took.
  std::size_t cycle(TrialContender& us, TrialContender* rival, const std::vector<Fault>& faults) {
    SCOPED_TRACE(in_words(faults));
    for (const auto& fault : faults) us.client.lose(fault.request, fault.when, fault.loss);
    const auto session = [&] { return us.client.session_id(); };
    us.begin_acquire();
    us.run([&] {
      us.client.bury();
      if (!rival || !rival->holds()) return;
      rival->begin_release();
      rival->run();
    });
    us.result();
    EXPECT_TRUE(us.holds());
    EXPECT_FALSE(rival && rival->holds() && !GetParam().shares) << "two hold the lock";
    us.client.bury();
    expect_held(us);
    const auto before = session();
    us.begin_release();
    us.run([&] { us.client.bury(); });
    us.result();
    const bool session_lost =
        us.client.current_state() != SessionState::Connected || session() != before;
    EXPECT_TRUE(us.released_in_time() || session_lost);
    us.client.bury();
    EXPECT_THAT(us.nodes(), IsEmpty());
    EXPECT_EQ(us.client.watches(), 0U);
    return us.client.requests();
  }

  /// The next one gets it at once, so that nothing of ours is in the way.
  static void expect_free(FakeTree& tree) {
    TrialContender next(tree, GetParam().make, "next");
    next.take();
    EXPECT_TRUE(next.holds());
    next.begin_release();
    next.run();
    EXPECT_THAT(next.nodes(), IsEmpty());
  }

  /// What was read of the first one is told, and nothing if that failed.
  static void expect_told_truly(const std::vector<QueuePlace>& places) {
    for (const auto& place : places) {
      EXPECT_EQ(place.holder_age_ms.has_value(), !place.holder.empty());
      EXPECT_FALSE(place.holder_stays || place.predecessor_stays);
      if (place.holder == "rival") {
        EXPECT_GE(place.holder_age_ms, age_of_rival.count());
      }
    }
  }

  std::size_t trial(bool behind, const std::vector<Fault>& faults) {
    FakeTree tree;
    std::optional<TrialContender> rival;
    if (behind) {
      rival.emplace(tree, GetParam().make, "rival").take();
      for (const auto& node : rival->nodes())
        tree.monitor().with_lock(
            [&](const Monitor::Held& held) { tree.age(held, node, age_of_rival); });
    }
    TrialContender us(tree, GetParam().make, "us");
    const auto requests = cycle(us, rival ? &*rival : nullptr, faults);
    expect_told_truly(us.places);
    if (rival && rival->holds()) {
      rival->begin_release();
      rival->run();
    }
    expect_free(tree);
    if (HasFailure())
      for (const auto& step : us.steps) std::cerr << "  " << step << '\n';
    return requests;
  }
};

TEST_P(RecipeFaults, AnyOneLossAlone) {
  const auto requests = trial(false, {});
  for (std::size_t at = 1; at <= requests; ++at)
    for (const auto loss : losses)
      for (const auto when : moments) {
        trial(false, {{at, when, loss}});
        if (HasFailure()) return;
      }
}

TEST_P(RecipeFaults, AnyOneLossBehindAnother) {
  const auto requests = trial(true, {});
  for (std::size_t at = 1; at <= requests; ++at)
    for (const auto loss : losses)
      for (const auto when : moments) {
        trial(true, {{at, when, loss}});
        if (HasFailure()) return;
      }
}

TEST_P(RecipeFaults, AnyTwoLosses) {
  const auto requests = trial(true, {}) + 6;  // after the first loss there are more
  for (std::size_t first = 1; first <= requests; ++first)
    for (std::size_t second = first + 1; second <= requests; ++second)
      for (const auto one : losses)
        for (const auto other : losses)
          for (const auto when : moments) {
            trial(true, {{first, When::AfterItWasApplied, one}, {second, when, other}});
            if (HasFailure()) return;
          }
}

/// The session expires while a contender waits, and the names of the servers do not resolve. Those
/// who share the lock need not wait for each other.
TEST_P(RecipeFaults, WithoutNamesAWaiterWaitsAndQueuesUpAgain) {
  if (GetParam().shares) return;
  FakeTree tree;
  TrialContender rival(tree, GetParam().make, "rival");
  rival.take();
  TrialContender us(tree, GetParam().make, "us");
  us.wait();
  const bool queues = !us.nodes().empty();  // who races for one node has none while it waits
  us.client.lose_names();
  us.client.expire();
  EXPECT_FALSE(us.go());
  EXPECT_EQ(us.client.current_state(), SessionState::Connecting);
  EXPECT_THAT(us.nodes(), IsEmpty());
  us.client.find_names();
  EXPECT_FALSE(us.go());
  EXPECT_EQ(us.nodes().empty(), !queues);
  rival.begin_release();
  EXPECT_TRUE(rival.run());
  EXPECT_TRUE(us.run());
  us.result();
  expect_held(us);
}

TEST_P(RecipeFaults, WithoutNamesAWaiterEndsWhenItIsToldTo) {
  if (GetParam().shares) return;
  FakeTree tree;
  TrialContender rival(tree, GetParam().make, "rival");
  rival.take();
  TrialContender us(tree, GetParam().make, "us");
  us.wait();
  us.client.lose_names();
  us.client.expire();
  EXPECT_FALSE(us.go());
  us.fiber.cancel();
  ASSERT_TRUE(us.go()) << "there is nothing to give back, and nobody to ask";
  EXPECT_THROW(us.result(), Cancelled);
}

TEST_P(RecipeFaults, WithoutNamesAWaiterEndsAtItsDeadline) {
  if (GetParam().shares) return;
  FakeTree tree;
  TrialContender rival(tree, GetParam().make, "rival");
  rival.take();
  TrialContender us(tree, GetParam().make, "us");
  us.begin_acquire(Clock::now() + std::chrono::seconds(3));
  EXPECT_FALSE(us.go());
  us.client.lose_names();
  us.client.expire();
  us.go();
  tree.monitor().wait_until({}, us.fiber.deadline(), [](const Monitor::Held&) { return false; });
  ASSERT_TRUE(us.go());
  EXPECT_THROW(us.result(), LockBusy);
}

INSTANTIATE_TEST_SUITE_P(Recipes, RecipeFaults, testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace zksh
