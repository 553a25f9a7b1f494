// Recipe: a way to hold a lock by znodes, as a task; what it asks for, tells and promises.
#pragma once

#include "client/client.h"
#include "client/task.h"
#include "recipes/lock_name.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace zksh {

/// Not acquired by the deadline, or not free when nothing was to be waited for. No node is left.
class LockBusy : public Error {
 public:
  explicit LockBusy(const std::string& message) : Error(message, status::lock_busy) {}
};

/// A place in the queue, or the lock itself, is gone, and is not asked for again.
class LockLost : public Error {
 public:
  explicit LockLost(const std::string& message) : Error(message, status::lock_lost) {}
};

/// The leases of a semaphore that somebody waits for.
struct LeaseCount {
  int all = 0;     ///< 0: it is no semaphore
  int taken = 0;   ///< 0: not known, since others wait before
  int wanted = 0;  ///< together
};

/// Where a contender stands that has to wait.
struct LockPlace {
  /// 1: the holder; readers that hold together count each. 0: there is no order.
  std::size_t position = 0;
  std::size_t count = 0;  ///< contenders in all
  std::string behind{};   ///< what the one it waits for says of itself
  std::string behind_node{};
  std::string holder{};  ///< what the first in the queue says of itself
  /// For how long the first has been in the queue, in milliseconds; by the two machines' clocks.
  std::int64_t holder_age_ms = 0;
  /// Of a semaphore. The queue is then that of those who wait; only when nobody is before, the
  /// holder is the one who has had a lease for the longest time.
  LeaseCount leases{};
  std::string path{};  ///< of several locks, which one it is about; empty: there is one only
};

/// Who hears what a recipe does; each may be empty. Called on the thread that drives the task.
struct LockReport {
  /// Every request with its answer and its time, every watch and event: `-v`.
  std::function<void(const std::string& text)> step{};
  /// What the user should know: exclusion that cannot work, a place that was lost.
  std::function<void(const std::string& text)> warning{};
  std::function<void(const LockPlace& place)> waiting{};
  /// A request is sent; an event of a watch has come: for counting them.
  std::function<void()> request{};
  std::function<void()> event{};
};

/// What is asked for.
struct LockRequest {
  std::string path;      ///< the lock: the contenders' parent
  std::string called{};  ///< what the user knows it by; empty: its path
  LockMode mode = LockMode::Exclusive;
  bool read_write = false;  ///< a read/write lock, not a plain mutex
  /// Nothing: Curator's names, and those of all libraries once others could not see Curator's.
  std::optional<Compat> compat{};
  std::string owner{};  ///< the contender nodes' data: who asks, for people
  Acl acl = open_acl();
  /// Of the lock node, when it must be made; nothing: container where all contenders can live with
  /// one that is removed when it is empty.
  std::optional<CreateMode> parent{};
  bool requeue = true;    ///< queue up again, at the end, when the place was lost
  bool try_only = false;  ///< look first; when somebody else would be waited for, LockBusy
};

/// A lock that is held: its nodes exist, and belong to this session.
struct LockHolding {
  std::vector<std::string> nodes;  ///< whole paths
  std::int64_t token = 0;          ///< fencing token: czxid of the first node, ever growing
  /// Of several locks: the token of each, in the order of the paths; else empty.
  std::vector<std::int64_t> tokens{};
  std::int64_t session = 0;
};

/// One contender for one lock. Its tasks run on one fiber, one at a time.
class Recipe {
 public:
  Recipe() = default;
  Recipe(const Recipe&) = delete;
  Recipe& operator=(const Recipe&) = delete;
  virtual ~Recipe() = default;

  /// Ends when the lock is held, and the session's lease leaves the time to make use of it. Throws
  /// LockBusy at the deadline, LockLost, ZkError, Cancelled; before any of them it takes its nodes
  /// back, which lasts until a server answers or the session has ended.
  virtual Task<> acquire(Clock::time_point deadline) = 0;
  /// Takes the nodes back. False: the lock had been lost before, and somebody else may have had it.
  /// Lasts until a server answers or the session has ended. Not interrupted by a cancel.
  virtual Task<bool> release() = 0;
  /// Turns a held write lock into a read lock without letting a writer in between. Throws
  /// UsageError where there is no such thing.
  virtual Task<> downgrade() = 0;
  /// Valid from the end of acquire until release.
  virtual const LockHolding& holding() const = 0;
};

}  // namespace zksh
