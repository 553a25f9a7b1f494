// LockChecks: how the tasks of locks (Lock::keep) prove that these are still held.
#pragma once

#include "base/time.h"
#include "client/nodes.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace zksh {

class Client;

/// A transaction that only checks nodes changes nothing, but like any other it needs the agreement
/// of a quorum. So it extends the session's lease (SessionLease), and detects nodes that were
/// deleted by hand. One transaction checks all locks of a session. Between two of them a read is
/// sent: the lease counts from requests older than a transaction, so there must be some. Used by
/// the thread that drives the locks' tasks.
class LockChecks {
 public:
  struct Check {
    BootClock::time_point sent;
    std::vector<std::string> nodes;
    Pending<std::vector<OpResult>> answer;
  };

  explicit LockChecks(Client& client) : client_(client) {}

  /// Adds nodes to the checks until they are removed.
  void add(const std::vector<std::string>& nodes);
  void remove(const std::vector<std::string>& nodes);

  /// Returns the latest check if it was sent at most half of `interval` ago; else sends a new one.
  std::shared_ptr<const Check> check(BootClock::duration interval);
  /// Records what a check's answer says about its nodes; returns the transaction's code.
  int settle(const Check& check);
  /// Whether a check has found that the node is gone.
  bool is_gone(const std::string& node) const { return gone_.contains(node); }
  /// Sends a read unless something was sent within half of `interval`; waits for nothing.
  void read(BootClock::duration interval);

 private:
  Client& client_;
  std::multiset<std::string> nodes_;
  std::set<std::string> gone_;
  std::set<std::string> unreadable_;  ///< to this session: checks of them fail for that reason
  std::string last_unreadable_{};     ///< that was checked
  std::shared_ptr<const Check> latest_;
  BootClock::time_point read_{};
};

}  // namespace zksh
