// LockViewer: what `locks` shows of a lock, once or again and again. LockSearch: finds locks.
#pragma once

#include "base/monitor.h"
#include "command/command.h"
#include "ensemble/server_poller.h"
#include "lock/reader.h"
#include "lock/view.h"
#include "lock/wait_graph.h"

#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace zksh {

class Client;

/// Reads a lock repeatedly, for its viewer. Used on one thread.
class LockViewer {
 public:
  /// `watch`: look will be called repeatedly. `watchers`: ask servers who watches what, whatever it
  /// costs.
  LockViewer(Context& cx, const std::string& path, bool watch, bool watchers);

  /// The lock's present state; kind "missing" if there is no such node. Blocks. Throws ZkError
  /// (also for a missing node, unless watched), Cancelled.
  LockView look(const std::stop_token& stop);
  /// Blocks until something has changed, and a minimum time has passed since the last look; returns
  /// false at the deadline. Throws Cancelled.
  bool await_change(const std::stop_token& stop,
                    Clock::time_point deadline = Clock::time_point::max());

 private:
  LockView view_of(const QueueReading& reading);
  bool late_watches(const std::stop_token& stop);
  void look_for_deadlocks(const std::stop_token& stop);
  void ask_ahead(const std::stop_token& stop);
  std::optional<ServersAccount> asked_ahead(const std::set<std::int64_t>& owners);
  ServersAccount ask(const QueueReading& reading);
  bool watchers_may_come(const LockView& view) const;
  void note_changes(LockView& view);

  Client& client_;
  std::string path_;
  bool watch_;
  bool watchers_;
  std::set<std::string> own_paths_;  ///< of this shell's locks
  std::set<std::string> passing_;    ///< see WaitGraph
  LockReader reader_;
  Fiber fiber_;
  NearbyLocks nearby_;
  std::vector<Deadlock> deadlocks_;  ///< as last found
  Clock::time_point deadlocks_looked_{};
  bool somebody_waits_ = false;
  ServerPoller words_;
  std::future<ServersAccount> ahead_{};  ///< uses words_; waits for its end
  Clock::time_point looked_{};
  // Sessions rarely move, so what servers report about them is cached for a while.
  Clock::time_point sessions_asked_{};
  std::set<std::int64_t> asked_sessions_;
  ServersAccount of_sessions_;   ///< as last asked
  ContenderKeys there_;          ///< keys of the contenders at the last look
  ContenderKeys without_watch_;  ///< of those that watched none of the others
  std::optional<ServersAccount::Events> own_at_first_;
  LockView::Changes changes_;
};

struct LockSearch {
  std::vector<LockView> locks;          ///< by path; data are read only for holders
  std::vector<std::string> unlistable;  ///< nodes whose children may not be listed
};

/// A node is a lock if it has an ephemeral child with a contender's name, and a semaphore if such
/// children are below its `locks` and `leases`. Memory is bounded by the widest level and the
/// number of contenders. `visited` is called for each node. Blocks; throws ZkError, Cancelled.
LockSearch search_locks(Client& client, const std::string& top,
                        const std::function<void()>& visited, const std::stop_token& stop);

}  // namespace zksh
