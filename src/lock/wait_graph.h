// WaitGraph: which sessions wait for which at locks, and the deadlocks among them; NearbyLocks
// reads what it considers.
#pragma once

#include "client/task.h"
#include "lock/view.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace zksh {

class Client;

/// A session waits at a lock until all contenders before it that exclude it are gone; at a full
/// semaphore, until one lease is free. It is stuck if that requires a session that is stuck; the
/// stuck sessions are the largest such set among what was read. So a semaphore closes a circle only
/// if stuck sessions hold all its leases, and a reader only behind a writer. A session is treated
/// as one entity that waits and holds, however many threads and commands it has. Source: the AND-OR
/// model of resource deadlocks, Knapp 1987.
class WaitGraph {
 public:
  /// Considers the first `longest_queue` seats of each lock. `passing` has absolute paths of nodes
  /// that go without their session's action, such as those with a running program.
  explicit WaitGraph(const std::vector<LockView>& locks, const std::set<std::string>& passing = {});

  /// The shortest circle in which this session waits at this path; nullopt if there is none.
  std::optional<Deadlock> deadlock(std::int64_t session, const std::string& path) const;
  /// The circles in which somebody waits at this path, each once, starting with the lowest session.
  std::vector<Deadlock> deadlocks(const std::string& path) const;

  static constexpr std::size_t longest_queue = 256;

 private:
  struct Blocker {
    std::int64_t session = 0;
    bool holds = false;
  };
  struct Wait {
    std::string path;
    std::vector<Blocker> blockers;
    std::size_t stuck_when = 1;  ///< number of stuck blockers that make it stuck
  };

  void add(const LockView& view, const std::set<std::string>& passing);
  bool is_stuck(const Wait& wait) const;
  void settle();

  std::map<std::int64_t, std::vector<Wait>> waits_;  ///< by session; only those of stuck sessions
};

/// Servers cannot tell what a lock's contenders wait for elsewhere, but related locks are often
/// siblings. So this reads the given locks and, if there are few, those with the same parents.
/// Nothing is watched, requests are pipelined, and their number is limited: what is too large is
/// skipped. Contenders seen before are not read again. Used on one fiber.
class NearbyLocks {
 public:
  /// Both must outlive it.
  NearbyLocks(Client& client, Fiber& fiber) : client_(client), fiber_(fiber) {}

  /// Returns the queues in which somebody waits, without owner data. Skips what cannot be read or
  /// is gone. Throws Cancelled.
  Task<std::vector<LockView>> read(std::set<std::string> paths);

  static constexpr std::size_t most_parents = 4;
  static constexpr std::size_t most_siblings = 64;
  static constexpr std::size_t most_contenders = 1024;  ///< of all locks together

 private:
  Task<std::set<std::string>> with_siblings(std::set<std::string> paths);
  Task<std::vector<QueueReading>> list(std::set<std::string> paths);
  Task<> fetch_sessions(std::vector<QueueReading>& readings);

  Client& client_;
  Fiber& fiber_;
  std::map<std::string, std::int64_t> sessions_;  ///< by node, as last seen
};

}  // namespace zksh
