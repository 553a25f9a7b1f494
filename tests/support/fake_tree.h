// FakeTree: a ZooKeeper server's tree in memory, for the sessions of a test.
#pragma once

#include "client/client.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace zksh {

/// Behaves like a standalone server: zxids, versions, sequence numbers, ephemerals, READ of
/// world:anyone. All members except `monitor` and the constructor require the monitor.
class FakeTree {
 public:
  /// The zxid of the last change.
  std::int64_t last_zxid(const Monitor::Held& /*held*/) const { return last_zxid_; }
  /// Called for each change of a node, in the server's order.
  using Listener = std::function<void(const Monitor::Held&, Event::Type, const std::string& path)>;

  FakeTree();

  Monitor& monitor() { return monitor_; }
  /// Returns a new session's id. Its listener is called for all changes until the session ends.
  std::int64_t begin_session(const Monitor::Held& held, Listener listener);
  /// Removes the listener; the session's ephemerals stay.
  void forget_listener(const Monitor::Held& held, std::int64_t session);
  /// Removes the session's ephemerals.
  void end_session(const Monitor::Held& held, std::int64_t session);

  /// Sets the number of the node's next sequential child. From ZooKeeper 3.6 on, it stays at its
  /// maximum; a negative one has wrapped, as in earlier servers.
  void set_counter(const Monitor::Held& held, const std::string& path, std::int32_t next);

  /// Makes a node, which must exist, older.
  void age(const Monitor::Held& held, const std::string& path, std::chrono::milliseconds by);

  Outcome<Created> create(const Monitor::Held& held, const CreateOp& op, std::int64_t session);
  Outcome<Nothing> remove(const Monitor::Held& held, const RemoveOp& op);
  Outcome<Stat> set(const Monitor::Held& held, const SetOp& op);
  Outcome<Stat> exists(const std::string& path) const;
  Outcome<Node> get(const std::string& path) const;
  Outcome<Children> children(const std::string& path) const;
  Outcome<NodeAcl> get_acl(const std::string& path) const;
  Outcome<Nothing> set_acl(const std::string& path, const Acl& acl, std::int32_t version);
  Outcome<std::vector<OpResult>> multi(const Monitor::Held& held, const std::vector<Op>& ops,
                                       std::int64_t session);

 private:
  struct Entry {
    Data data;
    Acl acl;
    Stat stat;
    std::int32_t counter = 0;  ///< number of children created
  };
  struct Change {
    Event::Type type;
    std::string path;
  };

  OpResult apply(const Op& op, std::int64_t session);
  OpResult apply_create(const CreateOp& op, std::int64_t session);
  OpResult apply_remove(const RemoveOp& op);
  OpResult apply_set(const SetOp& op);
  void touch_parent(const std::string& path, int growth);
  void tell(const Monitor::Held& held);

  Monitor monitor_;
  std::map<std::string, Entry> nodes_;
  std::map<std::int64_t, Listener> sessions_;
  std::int64_t last_zxid_ = 0;
  std::int64_t last_session_ = 0x1000;
  std::vector<Change> changes_;      ///< not reported yet
  std::set<std::string> overflown_;  ///< nodes whose counters were at their maximum
};

}  // namespace zksh
