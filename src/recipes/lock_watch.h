// LockWatch: what a contender waits for: an event of a node, or the end of its session.
#pragma once

#include "recipes/lock_requests.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

namespace zksh {

/// One watch at a time, used by one flow.
class LockWatch {
 public:
  /// `requests` outlives it.
  explicit LockWatch(LockRequests& requests) : requests_(requests) {}

  /// Reads a node and watches its data; a node that may not be read is watched nevertheless, and
  /// then seems empty. Without one the outcome is code::no_node, and no watch is left. Throws
  /// Cancelled and LockBusy, then `drop` it.
  Flow<Outcome<Node>> get(std::string path);
  /// The watch to list a node's children with, for a request that is sent at once.
  Watch on_children(const std::string& path);
  /// Ends at an event of what was watched last, or when the connection or the session is lost.
  /// False: the deadline came first. Throws Cancelled.
  Flow<bool> event();
  /// Takes away what has not fired, at the server too. Returns at once.
  void drop();
  /// It will fire, but is not waited for any more.
  void let_go() { path_.clear(); }

 private:
  void arm(const std::string& path, WatchKind kind);

  LockRequests& requests_;
  Mailbox mailbox_ = std::make_shared<Guarded<std::deque<Event>>>();
  std::string path_;  ///< that is watched; empty: none
  WatchKind kind_ = WatchKind::OfData;
  std::int64_t session_ = 0;  ///< in which it is
};

}  // namespace zksh
