// NodeWatches: persistent watches of servers, or emulated ones where the server is too old.
#pragma once

#include "client/client.h"
#include "client/watched_tree.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace zksh {

/// Finds the changes of a time that is given by zxids, without knowing what was there before: what
/// was created or written, and the nodes of which a child was deleted, unless a later change of
/// their lists hides that. Several writes of a node are one.
class MissedChanges {
 public:
  /// A change, which the server would have reported.
  struct Change {
    std::int64_t zxid;
    Event::Type type;  ///< ChildrenChanged: a child was deleted
    std::string path;
    Stat stat{};
  };

  /// Of the changes after `since`, up to `until`.
  MissedChanges(std::int64_t since, std::int64_t until) : since_(since), until_(until) {}

  /// Call for each node, before those below it.
  void visit(const std::string& path, const Stat& stat);
  /// Call if the children of the node visited last may not be listed.
  void unlistable() {
    if (!open_.empty()) open_.back().is_explained = true;
  }
  /// The changes, in order, once all nodes have been visited.
  std::vector<Change> take();
  /// Whether any node was visited.
  bool has_visited() const { return has_visited_; }
  bool is_missed(std::int64_t zxid) const { return zxid > since_ && zxid <= until_; }

 private:
  struct Open {
    std::string path;
    Stat stat;
    bool is_explained = false;  ///< the last change of its list was the creation of a child
  };
  void leave();

  std::int64_t since_;
  std::int64_t until_;
  std::vector<Open> open_{};  ///< the nodes on the path to the present one
  std::vector<Change> changes_{};
  bool has_visited_ = false;
};

/// Visits a node, if it exists, and all below it. Blocks; throws as Client's blocking members.
using Survey = std::function<void(Client& client, const std::string& top, MissedChanges& changes,
                                  const std::stop_token& stop)>;

/// Watches of nodes and subtrees that last as long as the session. A server of 3.6 or later reports
/// each change, in order (Client::start_add_watch); on an older one a WatchedTree emulates that.
///
/// Such a server keeps nothing of what happens while there is no connection. So, once there is one
/// again, the Stats of all watched nodes are read once, and tell what can be told
/// (MissedChanges): in place of deletions below a recursive watch, the ChildrenChanged of the
/// parent. If that server is older, the emulation goes on.
///
/// All members must be called on one thread.
class NodeWatches {
 public:
  /// Events are delivered to `mailbox`, which must be used for nothing else; the owner passes them
  /// to `note`. Without a survey, what was missed is told of the roots alone.
  NodeWatches(Client& client, Mailbox mailbox, Survey survey,
              std::size_t most_bytes = WatchedTree::usual_most_bytes)
      : client_(client),
        mailbox_(mailbox),
        survey_(std::move(survey)),
        tree_(client, std::move(mailbox), most_bytes) {}

  /// Watches a node, which need not exist, or changes the mode of its watch. Returns ok, or why it
  /// failed: then the watches are as before. Blocks; throws Cancelled, TooManyNodes.
  int add(const std::string& path, WatchMode mode, const std::stop_token& stop);
  /// The same without emulation: code unimplemented if the server is too old.
  int add_at_server(const std::string& path, WatchMode mode, const std::stop_token& stop);
  /// The zxid after which the server reports changes to the watch of a node that it has.
  std::int64_t watched_from(const std::string& path) const { return native_.at(path).from; }
  /// False if the node has no watch in that mode (nullopt: any mode).
  bool remove(const std::string& path, std::optional<WatchMode> mode);
  /// Removes all watches, and forgets what was to be reported.
  void clear();
  bool empty() const { return native_.empty() && tree_.empty(); }
  std::map<std::string, WatchMode> roots() const;

  /// Records an event of the mailbox, of a printed watch, or of the session.
  void note(const Event& event);
  // As in WatchedTree.
  bool in_doubt() const { return tree_.in_doubt(); }
  void resolve_doubts() { tree_.resolve_doubts(); }
  /// Call after notes. Blocks; throws Cancelled, TooManyNodes, and ZkError if a server refuses a
  /// watch that another had. Returns ok, or the code of the connection's failure; then all is done
  /// again once the next connection is noted.
  int catch_up(const std::stop_token& stop);
  Clock::time_point last_answer() const { return tree_.last_answer(); }
  /// The events to report after catch_up, in order; those of printed watches too, except where a
  /// persistent watch reports the same.
  std::vector<Event> take_events();
  std::vector<std::string> take_unlistable();

 private:
  struct Root {
    WatchMode mode = WatchMode::Persistent;
    bool exists = false;
    std::int64_t from = 0;
    std::int64_t told = 0;  ///< changes up to this one that were missed have been reported
  };
  struct Sent {
    Pending<std::int64_t> watch;
    Pending<Stat> stat;
  };

  Sent send(const std::string& path, WatchMode mode);
  int await_sent(const Sent& sent, const std::string& path, Root& root,
                 const std::stop_token& stop);
  int emulate(const std::string& path, WatchMode mode, const std::stop_token& stop);
  int set_again(const std::stop_token& stop);
  void find_missed(const std::string& path, Root& root, std::int64_t until,
                   const std::stop_token& stop);
  void add_missed(MissedChanges& changes, const std::string& path, Root& root);
  void note_session(const Event& event);

  Client& client_;
  Mailbox mailbox_;
  Survey survey_;
  WatchedTree tree_;  ///< the emulated ones
  std::map<std::string, Root> native_;
  std::optional<std::int64_t> since_;  ///< without a connection: the last zxid that was seen
  bool is_connected_ = true;
  std::vector<Event> events_;        ///< to report
  std::vector<std::string> hidden_;  ///< roots whose Stat may not be read
  std::optional<Event> last_;        ///< the last event, if it was a persistent watch's
};

}  // namespace zksh
