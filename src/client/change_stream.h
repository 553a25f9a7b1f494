// ChangeStream: what happens to nodes, one change after the other, across lost connections.
#pragma once

#include "client/client.h"
#include "client/node_change.h"
#include "client/watched_tree.h"

#include <deque>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

namespace zksh {

/// Follows nodes by a WatchedTree of its own, and reads what has changed: so several writes between
/// two reads are one change, whose versions tell how many they were, and no change is told twice.
/// After a lost connection or an expired session (a new one is opened) everything is read again:
/// a change of type Gap comes first, then what was missed.
///
/// All members are to be called on one thread.
class ChangeStream {
 public:
  struct Wish {
    std::vector<std::string> paths{};  ///< they need not exist
    bool recursive = false;            ///< all below, too; no changes of lists then
    bool values = false;               ///< the old and the new one; keeps all of them in memory
  };

  ChangeStream(Client& client, Wish wish);
  ChangeStream(const ChangeStream&) = delete;
  ChangeStream& operator=(const ChangeStream&) = delete;
  /// Takes the watches away.
  ~ChangeStream();

  /// Sets the watches; returns what is there (Present), sorted by path. To be called once, first.
  /// Blocks; throws ZkError, Cancelled.
  std::vector<NodeChange> begin(const std::stop_token& stop);
  /// Blocks until something has happened. Throws Cancelled, ZkError{invalid_state} when somebody
  /// has closed the session, Error when it is one with other servers now.
  std::vector<NodeChange> next(const std::stop_token& stop);
  /// The nodes that were found to lack the permission to list their children, since the last call.
  std::vector<std::string> take_unlisted() { return tree_.take_unlisted(); }

 private:
  /// What is known of a node, as it was last read.
  struct Known {
    std::optional<Stat> stat{};
    std::optional<Data> value{};
    std::vector<std::string> children{};  ///< sorted; where lists are watched
    std::int32_t cversion = -1;
  };
  /// A node that is read again.
  struct Reading {
    Pending<Stat> stat_asked{};
    Pending<Node> node_asked{};
    Pending<Children> children_asked{};
    std::optional<Known> found{};  ///< nothing: there is no such node
  };
  using Readings = std::map<std::string, Reading>;
  enum class Mood { Initial, Live, AfterGap };

  void hear(const Monitor::Held& held);
  void await_news(const std::stop_token& stop);
  void follow(const Event& event, std::vector<NodeChange>& changes, const std::stop_token& stop);
  void follow_session(SessionState state, std::vector<NodeChange>& changes,
                      const std::stop_token& stop);
  void tell(Mood mood, std::vector<NodeChange>& changes, const std::stop_token& stop);
  bool read(Readings& readings, const std::stop_token& stop);
  void ask(const std::string& path, Reading& reading);
  bool take(const std::string& path, Reading& reading, const std::stop_token& stop);
  std::optional<NodeChange> change_of(const Event& event, const Known* found);
  NodeChange created(const Event& event, const Known* found);
  std::optional<NodeChange> changed(const Event& event, const Known* found);
  std::optional<NodeChange> listed(const Event& event, const Known* found);
  std::optional<NodeChange> deleted(const Event& event);

  Client& client_;
  Wish wish_;
  std::string server_;
  Mailbox mailbox_ = std::make_shared<Guarded<std::deque<Event>>>();
  WatchedTree tree_;
  std::unordered_map<std::string, Known> known_;
  std::vector<Event> untold_;  ///< what they changed could not be read, for lack of a connection
  bool lost_ = false;
  bool expired_ = false;
  std::int64_t lost_since_ = 0;
  // Under the monitor:
  SessionState state_ = SessionState::Connected;
  std::optional<Monitor::Listener> listener_;
};

}  // namespace zksh
