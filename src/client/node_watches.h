// NodeWatches: the persistent watches of servers.
#pragma once

#include "client/nodes.h"
#include "client/watch.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace zksh {

class Client;

/// Finds what changed between two zxids, without knowing the nodes before: what was created or
/// written, and which nodes lost a child, unless a later change of their lists of children hides
/// that. Several writes of a node count as one.
class MissedChanges {
 public:
  /// A change, which the server would have reported.
  struct Change {
    std::int64_t zxid;
    Event::Type type;  ///< ChildrenChanged: a child was deleted
    std::string path;
    Stat stat{};
  };

  /// Finds the changes after `since`, up to `until`.
  MissedChanges(std::int64_t since, std::int64_t until) : since_(since), until_(until) {}

  /// Call for each node, before those below it.
  void visit(const std::string& path, const Stat& stat);
  /// Call if the children of the node visited last may not be listed.
  void note_unlistable() {
    if (!ancestors_.empty()) ancestors_.back().change_is_known = true;
  }
  /// The changes, in order, once all nodes have been visited.
  std::vector<Change> take();
  /// Before `take`: whether any node was visited.
  bool has_visited() const { return !ancestors_.empty(); }
  bool is_missed(std::int64_t zxid) const { return zxid > since_ && zxid <= until_; }

 private:
  struct Ancestor {
    std::string path;
    Stat stat;
    bool change_is_known = false;  ///< the last change of its list was the creation of a child
  };
  void leave();

  std::int64_t since_;
  std::int64_t until_;
  std::vector<Ancestor> ancestors_{};  ///< the nodes on the path to the present one
  std::vector<Change> changes_{};
};

/// Visits a node, if it exists, and all below it. Blocks; throws as Client's blocking members.
using Survey = std::function<void(Client& client, const std::string& top, MissedChanges& changes,
                                  const std::stop_token& stop)>;

/// Watches of nodes and subtrees that last as long as the session: a server of 3.6 or later reports
/// each change, in order (Client::start_add_watch).
///
/// The server keeps nothing of what happens while there is no connection. So, once there is one
/// again, the Stats of all watched nodes are read once, and tell what they can (MissedChanges): of
/// a deletion below a recursive watch, only the parent's ChildrenChanged.
///
/// All members must be called on one thread.
class NodeWatches {
 public:
  /// Events are delivered to `mailbox`, which must be used for nothing else; the owner passes them
  /// to `note`. Without a survey, missed changes are reported for the roots alone.
  NodeWatches(Client& client, Mailbox mailbox, Survey survey)
      : client_(client), mailbox_(std::move(mailbox)), survey_(std::move(survey)) {}

  /// Watches a node, which need not exist, or changes the mode of its watch. Returns ok, or why it
  /// failed (unimplemented: with_version_for_watches): then the watches are as before. Blocks;
  /// throws Cancelled.
  int add(const std::string& path, WatchMode mode, const std::stop_token& stop);
  /// The zxid after which the server reports changes of a node, which must be watched.
  std::int64_t watched_from(const std::string& path) const { return roots_.at(path).from; }
  /// False if the node has no watch in that mode (nullopt: any mode).
  bool remove(const std::string& path, std::optional<WatchMode> mode);
  /// Removes all watches, and forgets what was to be reported.
  void clear();
  std::map<std::string, WatchMode> modes() const;

  /// Records an event of the mailbox, of a printed watch, or of the session.
  void note(const Event& event);
  /// Call after notes. Blocks; throws Cancelled, and ZkError if a server refuses a watch that
  /// another had. If the connection is lost, all is done again once the next one is noted.
  void catch_up(const std::stop_token& stop);
  /// The events to report after catch_up, in order; those of printed watches too, except where a
  /// persistent watch reports the same.
  std::vector<Event> take_events() { return std::exchange(events_, {}); }
  /// The nodes found, since the last call, whose Stat may not be read: servers send no events about
  /// them.
  std::vector<std::string> take_unreadable_roots() { return std::exchange(unreadable_roots_, {}); }

 private:
  struct Root {
    WatchMode mode = WatchMode::Persistent;
    bool exists = false;
    std::int64_t from = 0;
    std::int64_t reported_until = 0;  ///< missed changes up to this zxid
  };
  struct Sent {
    Pending<std::int64_t> watch;
    Pending<Stat> stat;
  };

  Sent send(const std::string& path, WatchMode mode);
  int await_sent(const Sent& sent, const std::string& path, Root& root,
                 const std::stop_token& stop);
  void set_again(const std::stop_token& stop);
  int try_to_set_again(const std::stop_token& stop);
  void find_missed(const std::string& path, Root& root, const std::stop_token& stop);
  void note_session(const Event& event);

  Client& client_;
  Mailbox mailbox_;
  Survey survey_;
  std::map<std::string, Root> roots_;
  std::optional<std::int64_t> since_;  ///< without a connection: the last zxid that was seen
  bool is_connected_ = true;
  std::vector<Event> events_;  ///< to report
  std::vector<std::string> unreadable_roots_;
  std::optional<Event> last_;  ///< the last event, if it was a persistent watch's
};

}  // namespace zksh
