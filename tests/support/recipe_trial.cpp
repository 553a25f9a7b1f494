// RecipeTrial: a contender on a FakeTree, driven step by step on the test's thread.
#include "recipe_trial.h"

#include "client/node_path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace zksh {

using namespace std::chrono_literals;

TrialContender::TrialContender(FakeTree& on, const RecipeMaker& make, std::string called)
    : name(std::move(called)), tree(on), client(on), fiber(on.monitor()) {
  report.step = [this](const std::string& text) { steps.push_back(text); };
  report.warning = [this](const std::string& text) { warnings.push_back(text); };
  report.waiting = [this](const QueuePlace& place) { places.push_back(place); };
  recipe = make(client, fiber, report, name);
}

Task<> TrialContender::acquire(Clock::time_point deadline) {
  co_await recipe->acquire(deadline);
  held_ = true;
}

Task<> TrialContender::release() {
  released_ = co_await recipe->release();
  held_ = false;
}

void TrialContender::begin_acquire(Clock::time_point deadline) { fiber.begin(acquire(deadline)); }

void TrialContender::begin_release() { fiber.begin(release()); }

bool TrialContender::go() {
  const auto able = [&] {
    return tree.monitor().with_lock(
        [&](const Monitor::Held& held) { return fiber.can_resume(held); });
  };
  while (able()) fiber.resume();
  return fiber.ended();
}

bool TrialContender::run(const std::function<void()>& idle) {
  constexpr int patience = 1000;
  for (int tries = 0; tries < patience; ++tries) {
    if (go()) return true;
    if (client.deliver()) continue;
    if (client.current_state() == SessionState::Connecting) {
      client.reconnect();
      continue;
    }
    // Another thread opens the new session.
    if (client.current_state() != SessionState::Connected) {
      tree.monitor().wait_until({}, Clock::now() + 60s, [&](const Monitor::Held& held) {
        return fiber.can_resume(held) || client.state(held) == SessionState::Connected;
      });
      continue;
    }
    if (idle) idle();
    tree.monitor().wait_until({}, Clock::now() + 1ms,
                              [&](const Monitor::Held& held) { return fiber.can_resume(held); });
  }
  ADD_FAILURE() << name << " waits for ever";
  return false;
}

void TrialContender::take() {
  begin_acquire();
  ASSERT_TRUE(run());
  result();
}

void TrialContender::wait() {
  begin_acquire();
  EXPECT_FALSE(go());
}

void TrialContender::give_back() {
  begin_release();
  ASSERT_TRUE(run());
  result();
  EXPECT_TRUE(released_in_time());
}

std::vector<std::string> TrialContender::nodes() {
  std::vector<std::string> found;
  for (const auto& path : all_nodes(tree)) {
    const auto node =
        tree.monitor().with_lock([&](const Monitor::Held&) { return tree.get(path); });
    const auto& data = node.value.data;
    if (data && (*data == name || data->starts_with(name + " "))) found.push_back(path);
  }
  return found;
}

std::vector<std::string> all_nodes(FakeTree& tree) {
  std::vector<std::string> all{"/"};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto below =
        tree.monitor().with_lock([&](const Monitor::Held&) { return tree.children(all[i]); });
    for (const auto& child : below.value.names.strings()) all.push_back(join_path(all[i], child));
  }
  std::ranges::sort(all);
  return all;
}

}  // namespace zksh
