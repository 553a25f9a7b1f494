// Contention: many contenders for one lock in this process, and what happened to each of them.
#pragma once

#include "client/client.h"
#include "recipes/make_recipe.h"

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace zksh {

/// What the contenders do.
struct ContentionPlan {
  RecipeKind recipe = RecipeKind::Fair;
  /// What the writers ask for; readers ask for the same, shared.
  LockRequest request{};
  std::size_t contenders = 10;
  std::size_t readers = 0;  ///< so many of the contenders, spread evenly among the others
  std::size_t rounds = 1;   ///< how often each acquires the lock
  std::chrono::microseconds hold{0};
};

/// One acquisition. A time that has not come is Clock::time_point{}.
struct ContenderTurn {
  std::size_t contender = 0;
  LockMode mode = LockMode::Exclusive;
  Clock::time_point asked{};      ///< before acquire was called
  Clock::time_point acquired{};   ///< after it returned
  Clock::time_point releasing{};  ///< before release was called
  Clock::time_point released{};   ///< after it returned
  bool lost = false;              ///< its release found that the lock was gone
};

/// Who hears of what the contenders do; each may be empty. Called on the thread of `contend`.
struct ContentionReport {
  std::function<void(std::size_t contender, const std::string& text)> step{};
  std::function<void(std::size_t contender, const std::string& text)> warning{};
};

struct ContentionResult {
  std::vector<ContenderTurn> turns;  ///< also those that did not come to their end
  Clock::time_point began{};
  Clock::time_point ended{};
  std::size_t requests = 0;               ///< that the recipes sent
  std::vector<Clock::time_point> events;  ///< when the recipes received those of watches
  /// Of the contender that failed first; the others left the queue then.
  std::exception_ptr failure{};
};

/// Runs all contenders, on this thread and those of the clients, until the last one is done;
/// contender i has the session of clients[i mod the number of them], which must be connected. A
/// stop, or the failure of a contender, makes all leave the queue, and release what they hold,
/// before this returns.
ContentionResult contend(const ContentionPlan& plan, const std::vector<Client*>& clients,
                         const ContentionReport& report, const std::stop_token& stop);

struct DrawingStyle {
  std::size_t columns = 80;
  std::size_t rows = 20;  ///< for contenders; of more, some are left out, evenly
  bool ascii = false;     ///< the terminal has no UTF-8
};

/// A row for each contender, a scale, and what the signs mean; lines no wider than the columns.
std::vector<std::string> draw_contention(const ContentionResult& result, std::size_t contenders,
                                         const DrawingStyle& style);

}  // namespace zksh
