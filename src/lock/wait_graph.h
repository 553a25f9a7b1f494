// WaitGraph: which sessions wait for which at locks, and the circles in that.
#pragma once

#include "lock/lock_view.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace zksh {

/// A session waits at a lock until all before it that exclude it are gone; at a semaphore that is
/// full, until one lease is free. It is stuck when that takes a session that is stuck: of what is
/// read here, the largest set of sessions for which that holds. So a semaphore closes a circle only
/// when every lease is held within one, and a reader only where a writer is before it. A session is
/// taken for one thing that waits and holds, however many threads and commands it has.
/// Source: the AND-OR model of resource deadlocks, Knapp 1987.
class WaitGraph {
 public:
  /// Of each lock the first `longest_queue` seats are looked at. `passing`: nodes, as whole paths,
  /// that go without their session's doing, as those under which a program runs.
  explicit WaitGraph(const std::vector<LockView>& locks, const std::set<std::string>& passing = {});

  /// The shortest circle in which this session waits at this path; nothing: it is in none.
  std::optional<LockCircle> circle(std::int64_t session, const std::string& path) const;
  /// Those in which somebody waits at this path, each once; they begin with the lowest session.
  std::vector<LockCircle> circles(const std::string& path) const;

  static constexpr std::size_t longest_queue = 256;

 private:
  struct Blocker {
    std::int64_t session = 0;
    bool holds = false;
  };
  struct Wait {
    std::string path;
    std::vector<Blocker> blockers;
    std::size_t stuck_when = 1;  ///< so many blockers are stuck
  };

  void add(const LockView& view, const std::set<std::string>& passing);
  bool is_stuck(const Wait& wait) const;
  void settle();

  std::map<std::int64_t, std::vector<Wait>> waits_;  ///< of each session; of the stuck ones only
};

}  // namespace zksh
