// LockChecks: the transactions by which a session proves that it holds its locks, one for all.
#pragma once

#include "client/client.h"

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace zksh {

/// A transaction that only checks nodes changes nothing, but is agreed to like any other: it
/// extends the session's lease (SessionLease), and tells of a node that was deleted by hand. All
/// the locks of a session are checked by one. Between two of them goes a read: the lease counts
/// from requests that are older than a transaction, and there are to be some. Used by the thread
/// that drives the locks' tasks.
class LockChecks {
 public:
  struct Check {
    Clock::time_point sent;
    std::vector<std::string> nodes;
    Pending<std::vector<OpResult>> answer;
  };

  explicit LockChecks(Client& client) : client_(client) {}

  /// From now on these nodes are checked too, until they are removed.
  void add(const std::vector<std::string>& nodes);
  void remove(const std::vector<std::string>& nodes);

  /// The latest check, when it was sent no longer than half of `interval` ago; else a new one.
  std::shared_ptr<const Check> check(Clock::duration interval);
  /// Takes note of what a check's answer says of its nodes; the code is that of the transaction.
  int settle(const Check& check);
  /// Whether a check has said that the node is gone.
  bool is_gone(const std::string& node) const { return gone_.contains(node); }
  /// Sends a read, unless anything was sent since half of `interval`; awaits nothing.
  void read(Clock::duration interval);

 private:
  Client& client_;
  std::multiset<std::string> nodes_;
  std::set<std::string> gone_;
  std::set<std::string> unreadable_;  ///< by us: a check of one fails, for that reason
  std::shared_ptr<const Check> latest_;
  Clock::time_point read_{};
};

}  // namespace zksh
