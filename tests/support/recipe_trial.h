// RecipeTrial: a contender for a lock on a FakeTree, driven step by step on the test's thread.
#pragma once

#include "fake_client.h"
#include "recipes/recipe.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace zksh {

/// How a test makes the recipe that it is about; `owner` is to be the nodes' data.
using RecipeMaker =
    std::function<std::unique_ptr<Recipe>(Client&, Fiber&, const LockReport&, std::string owner)>;

/// One contender with its own session. Its nodes are those whose data begin with its name.
class TrialContender {
 public:
  TrialContender(FakeTree& on, const RecipeMaker& make, std::string called);

  void begin_acquire(Clock::time_point deadline = Fiber::never);
  void begin_release();
  /// Goes on as long as it can. True: its task has ended.
  bool go();
  /// Also waits, for what happens on other threads, and calls `idle` whenever it can do nothing; at
  /// most `patience` times, then the test fails. The contender's connection is restored, and what
  /// is held back arrives, before `idle` is asked to help.
  bool run(const std::function<void()>& idle = {});
  /// Throws what the task threw.
  void result() { fiber.result(); }
  /// Acquires; nothing is in its way.
  void take();
  /// Asks, and has to wait.
  void wait();
  /// Releases what it holds; nothing is in its way.
  void give_back();
  /// What its task, which has ended, threw; empty: nothing.
  template <class E>
  std::string failure() {
    try {
      result();
    } catch (const E& error) {
      return error.what();
    }
    return {};
  }

  /// Paths of its nodes, in byte order.
  std::vector<std::string> nodes();
  bool holds() const { return held_; }
  bool released_in_time() const { return released_; }

  const std::string name;
  FakeTree& tree;
  FakeClient client;
  Fiber fiber;
  std::vector<std::string> warnings;
  std::vector<LockPlace> places;
  std::vector<std::string> steps;
  LockReport report;
  std::unique_ptr<Recipe> recipe;

 private:
  Task<> acquire(Clock::time_point deadline);
  Task<> release();

  bool held_ = false;
  bool released_ = false;
};

/// Everything that exists, in byte order.
std::vector<std::string> all_nodes(FakeTree& tree);

}  // namespace zksh
