// PastLocks: who held a lock, who waited for it and how it ended, by the transaction logs alone.
#pragma once

#include "recipes/lock_queue.h"
#include "txnlog/transaction.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace zksh {

/// A contender's time in a queue.
struct PastTurn {
  enum class End {
    Open,      ///< it is still there
    Released,  ///< its own session deleted its node
    Removed,   ///< another session did
    Closed,    ///< its session was closed
    Expired,
  };
  std::string lock{};  ///< the parent of the contenders
  std::string node{};  ///< the name of its first node
  LockMode mode = LockMode::Exclusive;
  bool lease = false;  ///< of a semaphore: it is held as soon as it exists
  /// For a contender in a semaphore's queue: it got a lease, whose turn includes its wait.
  bool has_lease = false;
  std::int64_t session = 0;
  std::int64_t token = 0;  ///< the zxid that created the node
  std::int64_t asked = 0;  ///< milliseconds since 1970, as the next two; for a lease, when its
                           ///< contender asked, if known
  std::optional<std::int64_t> acquired{};
  std::optional<std::int64_t> ended{};
  std::size_t overlaps = 0;  ///< how many others held the same lock while it did
  End end = End::Open;
  std::int64_t ended_by = 0;  ///< the session, if Removed
};

/// Follows the queues of all locks whose contenders have names that zksh knows (parse_lock_name).
/// For a semaphore (recipes/semaphore.cpp), a turn is either that of a lease, including its
/// contender's wait in PATH/locks, or that of a contender that got no lease and only waited.
class PastLocks {
 public:
  using Report = std::function<void(const PastTurn&)>;
  /// `is_lock`: whether a node is of interest; also called for the paths of semaphores. `any_name`:
  /// any sequential ephemeral is a contender, even if its name does not show a lock. `report` is
  /// called when a turn ends.
  PastLocks(std::function<bool(std::string_view lock)> is_lock, bool any_name, Report report);

  /// An ephemeral that is there at the beginning.
  void add_present(std::string_view path, std::int64_t session, std::int64_t czxid,
                   std::int64_t ctime);
  /// `ended`: if the transaction ends a session, the ephemerals that this deletes.
  void apply(const LoggedTransaction& txn, const std::vector<std::string>& ended);
  /// Reports the turns that have not ended, in the order in which they began.
  void report_open();

 private:
  struct Queue {
    std::map<std::string, std::int64_t> czxids{};          ///< by name
    std::map<std::string, PastTurn, std::less<>> turns{};  ///< by LockName::key
    std::size_t shared = 0;                                ///< turns that are not exclusive
  };
  bool is_wanted(std::string_view lock, ContenderTag tag) const;
  /// Returns null if it is not a new contender.
  PastTurn* add(std::string_view path, std::int64_t session, std::int64_t zxid, std::int64_t time);
  void add_wait(PastTurn& lease);
  void report(PastTurn turn) const;
  void remove(std::string_view path, PastTurn::End end, const LoggedTransaction& txn);
  static void note_holders(Queue& queue, std::int64_t time);
  static void acquire(Queue& queue, PastTurn& turn, std::int64_t time);

  std::function<bool(std::string_view)> is_lock_;
  bool any_name_;
  Report report_;
  std::unordered_map<std::string, Queue> queues_{};
  std::unordered_set<std::string> semaphores_{};  ///< the paths of those that had a lease
};

}  // namespace zksh
