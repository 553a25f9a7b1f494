// LockViewer: looks at a lock with all that can be asked: its nodes, and its servers.
#pragma once

#include "ensemble/server_poller.h"
#include "lock/lock_picture.h"
#include "lock/lock_reader.h"
#include "lock/nearby_locks.h"

#include <cstdint>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// Used on one thread.
class LockViewer {
 public:
  /// What the shell knows of circles before it looks.
  struct Own {
    std::set<std::string> paths;    ///< of its locks
    std::set<std::string> passing;  ///< see WaitGraph
  };

  /// `watch`: it is looked at more than once. `watchers`: servers are asked who watches what.
  /// `admin_servers`: as the user names them.
  LockViewer(Client& client, const std::string& path, bool watch, bool watchers,
             std::string_view admin_servers, Own own);

  /// The lock as it is now; kind "missing" when there is no such node. Blocks. Throws ZkError (also
  /// for a missing node, unless it is watched), Cancelled.
  LockView look(const std::stop_token& stop);
  /// Blocks until there is something new, and a picture's while has passed since the last look.
  /// Throws Cancelled.
  void await_change(const std::stop_token& stop);
  /// As await_change, but false when nothing came until the deadline.
  bool await_change(const std::stop_token& stop, Clock::time_point deadline);
  /// Since the first look.
  const LockChanges& changes() const { return changes_; }

 private:
  ServersAccount ask(const LockReading& reading);
  bool watchers_may_come(const LockView& view) const;
  void note_changes(const LockView& view);
  void look_for_circles(const std::stop_token& stop);
  void pause(std::chrono::milliseconds time, const std::stop_token& stop);

  Client& client_;
  std::string path_;
  bool watch_;
  bool watchers_;
  Own own_;
  LockReader reader_;
  Fiber fiber_;
  NearbyLocks nearby_;
  std::vector<LockCircle> circles_;  ///< as of the last look for them
  Clock::time_point circles_looked_{};
  bool somebody_waits_ = false;
  ServerPoller words_;
  Clock::time_point looked_{};
  // Sessions seldom move: what servers told of them is kept for a while.
  Clock::time_point sessions_asked_{};
  std::set<std::int64_t> asked_sessions_;
  std::map<std::int64_t, std::string> addresses_;
  bool all_addresses_ = false;
  std::optional<std::set<std::int64_t>> sessions_;
  ContenderKeys there_;  ///< keys of the contenders of the last look
  std::optional<ServersAccount::Events> own_at_first_;
  LockChanges changes_;
};

}  // namespace zksh
