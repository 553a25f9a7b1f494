// RecipeTrial: a contender on a FakeTree, driven step by step on the test's thread.
#pragma once

#include "fake_client.h"
#include "recipes/recipe.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace zksh {

/// Creates the recipe under test; `owner` becomes the nodes' data.
using RecipeMaker =
    std::function<std::unique_ptr<Recipe>(Client&, Fiber&, const RecipeReport&, std::string owner)>;

/// A contender with its own session. Its nodes are those whose data begin with its name.
class TrialContender {
 public:
  TrialContender(FakeTree& on, const RecipeMaker& make, std::string called);

  void begin_acquire(Clock::time_point deadline = Fiber::never);
  void begin_release();
  /// Runs as long as it can; true if its task has ended.
  bool go();
  /// Also waits for other threads, and calls `idle` whenever it cannot go on, at most `patience`
  /// times; then the test fails. Before calling `idle`, restores the contender's connection and
  /// delivers what is held back.
  bool run(const std::function<void()>& idle = {});
  /// Rethrows what the task threw.
  void result() { fiber.result(); }
  /// Acquires the lock, which must be free.
  void take();
  /// Requests the lock, and must have to wait.
  void wait();
  /// Releases the lock, which must succeed.
  void give_back();
  /// What its task, which must have ended, threw; empty if nothing.
  template <class E>
  std::string failure() {
    try {
      result();
    } catch (const E& error) {
      return error.what();
    }
    return {};
  }

  /// The paths of its nodes, in byte order.
  std::vector<std::string> nodes();
  bool holds() const { return held_; }
  bool released_in_time() const { return released_; }

  const std::string name;
  FakeTree& tree;
  FakeClient client;
  Fiber fiber;
  std::vector<std::string> warnings;
  std::vector<QueuePlace> places;
  std::vector<std::string> steps;
  RecipeReport report;
  std::unique_ptr<Recipe> recipe;

 private:
  Task<> acquire(Clock::time_point deadline);
  Task<> release();

  bool held_ = false;
  bool released_ = false;
};

/// All existing nodes, in byte order.
std::vector<std::string> all_nodes(FakeTree& tree);

}  // namespace zksh
