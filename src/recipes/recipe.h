// Recipe: a way to hold a lock with znodes, run as a task.
#pragma once

#include "base/named_values.h"
#include "client/nodes.h"
#include "client/task.h"
#include "recipes/lock_queue.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zksh {

class Client;

/// Not acquired by the deadline, or not free if it should not wait. No node is left.
class LockBusy : public Error {
 public:
  explicit LockBusy(const std::string& message, std::string holder = "")
      : Error(message, status::lock_busy), holder_(std::move(holder)) {}

  /// The data of the holder's node; empty unless the message leaves it to the caller to say who
  /// holds the lock.
  const std::string& holder() const noexcept { return holder_; }

 private:
  std::string holder_;
};

/// The same, but because of the connection, not of another contender.
class LockUnsettled : public LockBusy {
 public:
  using LockBusy::LockBusy;
};

/// The place in the queue, or the lock itself, is gone, and is not requested again.
class LockLost : public Error {
 public:
  explicit LockLost(const std::string& message) : Error(message, status::lock_lost) {}
};

/// Callbacks for what a recipe does; each may be empty. Called on the thread that drives the task.
struct RecipeReport {
  /// Every request with its answer and duration, every watch and event: for `-v`.
  std::function<void(const std::string& text)> step{};
  /// Warnings for the user: exclusion that cannot work, a lost place.
  std::function<void(const std::string& text)> warning{};
  std::function<void(const QueuePlace& place)> waiting{};
  /// Called after a wait, right behind the request for the queue, whose answer may show that the
  /// lock is held. `nodes` are the contender's. What this callback sends is answered after that
  /// request, and so shows a state that is at least as new.
  std::function<void(const std::vector<std::string>& nodes)> relisted{};
  /// A request is sent; a watch event has arrived: for counting them.
  std::function<void()> request{};
  std::function<void()> event{};

  void warn(const std::string& text) const {
    if (warning) warning(text);
  }
};

/// The recipes. Herd and Exclusive are for demonstration and teaching.
enum class RecipeKind {
  Fair,       ///< a queue in which each contender watches its predecessor
  Herd,       ///< the same queue, but every change wakes everyone
  Exclusive,  ///< one node that all race to create
  /// A fixed number of leases. Its acquire also throws ValueError if the semaphore has another
  /// number of leases, or its node other data. With LockRequest::try_only it does not wait for a
  /// lease, only, for at most a second, for contenders that are just taking theirs.
  Semaphore,
  /// Exclusive locks of several paths. Its holding has the nodes and tokens in the order of the
  /// paths. release returns false if one of them was lost.
  Multi,
};

/// Those for a single lock.
inline constexpr NamedValues<RecipeKind, 3> recipe_names{
    {{"fair", RecipeKind::Fair}, {"herd", RecipeKind::Herd}, {"exclusive", RecipeKind::Exclusive}}};

/// What is requested.
struct LockRequest {
  /// The lock: the contenders' parent. For RecipeKind::Multi one or more, which are distinct.
  std::vector<std::string> paths;
  RecipeKind recipe = RecipeKind::Fair;
  std::string called{};  ///< the user's name for it; empty: its path
  LockMode mode = LockMode::Exclusive;
  bool read_write = false;  ///< a read/write lock, not a plain mutex
  bool atomic = false;      ///< for Multi: joins all queues in one transaction
  int leases = 0;           ///< for Semaphore: their number in total
  int quantity = 1;         ///< for Semaphore: how many to take, up to `leases`
  /// nullopt: Curator's names, and those of all libraries once others turn out not to see
  /// Curator's.
  std::optional<Compat> compat{};
  std::string owner{};  ///< the contender nodes' data: a description of the owner, for people
  Acl acl = open_acl();
  /// For creating the lock node; nullopt: container, if all contenders can cope with the removal of
  /// an empty one.
  std::optional<CreateMode> parent{};
  bool requeue = true;    ///< rejoin at the end of the queue after losing the place
  bool try_only = false;  ///< throw LockBusy instead of waiting for others

  const std::string& path() const { return paths.front(); }
};

/// A held lock: its nodes exist, and belong to this session.
struct Holding {
  std::vector<std::string> nodes;  ///< absolute paths
  std::int64_t token = 0;  ///< fencing token: the first node's czxid, which grows with every holder
  /// For several locks: the token of each, in the order of the paths; else empty.
  std::vector<std::int64_t> tokens{};
  std::int64_t session = 0;
};

/// A contender for a lock. Its tasks run on one fiber, one at a time.
class Recipe {
 public:
  Recipe() = default;
  Recipe(const Recipe&) = delete;
  Recipe& operator=(const Recipe&) = delete;
  virtual ~Recipe() = default;

  /// Waits until the lock is held and the session's lease leaves enough time to use it. Throws
  /// LockBusy at the deadline, LockLost, ZkError, Cancelled; before that it takes its nodes back,
  /// which takes until a server answers or the session has ended.
  virtual Task<> acquire(Clock::time_point deadline) = 0;
  /// Takes the nodes back. Returns false if the lock had been lost, so that somebody else may have
  /// held it. Takes until a server answers or the session has ended. Cannot be cancelled.
  virtual Task<bool> release() = 0;
  /// Turns a held write lock into a read lock without letting a writer in between. Throws
  /// UsageError if it is not a write lock.
  virtual Task<> downgrade() { throw UsageError("only a write lock can be downgraded"); }
  /// Valid from the end of acquire until release.
  virtual const Holding& holding() const = 0;
};

// These create a contender, which has not sent anything yet. `client`, `fiber` and `report` must
// outlive it; it runs on `fiber`. They throw UsageError if the recipe cannot do what is requested.

using MakeRecipe = std::unique_ptr<Recipe>(Client& client, Fiber& fiber, const RecipeReport& report,
                                           LockRequest request);
MakeRecipe make_fair_lock;  ///< Fair and Herd
MakeRecipe make_exclusive_lock;
MakeRecipe make_semaphore;
MakeRecipe make_multi_lock;

inline std::unique_ptr<Recipe> make_recipe(Client& client, Fiber& fiber, const RecipeReport& report,
                                           const LockRequest& request) {
  auto* const make = request.recipe == RecipeKind::Exclusive   ? make_exclusive_lock
                     : request.recipe == RecipeKind::Semaphore ? make_semaphore
                     : request.recipe == RecipeKind::Multi     ? make_multi_lock
                                                               : make_fair_lock;
  return make(client, fiber, report, request);
}

}  // namespace zksh
