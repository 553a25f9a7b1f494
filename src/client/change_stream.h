// ChangeStream: reports the changes of nodes, in order, across lost connections and sessions.
#pragma once

#include "client/client.h"
#include "client/node_watches.h"
#include "client/watched_tree.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

namespace zksh {

/// One change of a watched node.
struct NodeChange {
  enum class Type {
    Present,  ///< existed when the watch began
    Created,
    Changed,  ///< its value was set
    Deleted,
    Children,  ///< its list of children changed
    Gap,       ///< changes could not be observed for a while; those missed follow
  };
  Type type = Type::Changed;
  std::string path{};  ///< empty for a gap
  std::int64_t time =
      0;                ///< when it was noticed, in milliseconds since 1970 by this machine's clock
  bool missed = false;  ///< discovered after a gap
  std::int64_t zxid = -1;        ///< of the change, where the server says it; -1: see `after`
  std::optional<Stat> before{};  ///< as last seen
  std::optional<Stat> after{};   ///< nullopt if the node was gone before it could be read
  /// Only if values were requested and are known.
  std::optional<Data> old_value{};
  std::optional<Data> new_value{};
  std::vector<std::string> added{};  ///< names of children, sorted
  bool lists_names = true;           ///< false: they are not known
  std::vector<std::string> removed{};
  bool expired = false;    ///< for a gap: the session was lost, not only the connection
  std::int64_t since = 0;  ///< for a gap: when it began, as `time`

  /// The session that owns the node; 0 if it is not ephemeral, or not known.
  std::int64_t ephemeral_owner() const {
    return after ? after->ephemeral_owner : before ? before->ephemeral_owner : 0;
  }
};

/// Follows nodes, and reads what changed. After a lost connection, or an expired session, which is
/// replaced by a new one, a change of type Gap comes first, then what was missed.
///
/// Subtrees without values are followed with persistent watches where the server has them
/// (NodeWatches): each change is reported, nothing is kept, and so what was before is not known,
/// nor which nodes were deleted during a gap: their parent's list has changed. Each node is read
/// after its event, and may have changed again by then.
///
/// Else a WatchedTree is used, and what was read is kept. Several writes between two reads are one
/// change; its versions tell how many there were. No change is reported twice. After a gap
/// everything is read again.
///
/// All members must be called on one thread.
class ChangeStream {
 public:
  struct Options {
    std::vector<std::string> paths{};  ///< they need not exist
    bool recursive =
        false;  ///< also all descendants; changes of lists of children are then not reported
    bool values = false;  ///< report old and new values; keeps all values in memory
    bool initial = true;  ///< `begin` returns the existing nodes
    Survey survey{};      ///< of subtrees; without it, changes during a gap may go unreported
  };

  ChangeStream(Client& client, Options options);
  ChangeStream(const ChangeStream&) = delete;
  ChangeStream& operator=(const ChangeStream&) = delete;
  /// Removes the watches.
  ~ChangeStream();

  /// Sets the watches; returns the existing nodes as changes of type Present, sorted by path. Must
  /// be called once, first. Blocks; throws ZkError, Cancelled.
  std::vector<NodeChange> begin(const std::stop_token& stop);
  /// Blocks until there are changes. Throws Cancelled, ZkError{invalid_state} if the session was
  /// closed, Error if the client now has a session with other servers.
  std::vector<NodeChange> next(const std::stop_token& stop);
  /// The nodes found, since the last call, whose children may not be listed for lack of permission.
  std::vector<std::string> take_unlistable() {
    return is_native_ ? watches_.take_unlistable() : tree_.take_unlistable();
  }

 private:
  /// A node as it was last read.
  struct Known {
    std::optional<Stat> stat{};
    std::optional<Data> value{};
    std::vector<std::string> children{};  ///< sorted; only where lists are watched
    std::int32_t cversion = -1;
  };
  /// A node that is being read again.
  struct Reading {
    Pending<Stat> stat{};
    Pending<Node> node{};
    Pending<Children> children{};
  };
  /// The nodes that were read, by path; nullopt: there is no such node.
  using Found = std::map<std::string, std::optional<Known>>;

  void hear(const Monitor::Held& held);
  bool set_up(const std::stop_token& stop);
  bool set_up_native(const std::stop_token& stop);
  std::vector<NodeChange> present_native(const std::stop_token& stop);
  void report_native(bool missed, std::vector<NodeChange>& changes, const std::stop_token& stop);
  void note(const Event& event);
  void catch_up(bool missed, std::vector<NodeChange>& changes, const std::stop_token& stop);
  void skip_events();
  std::vector<NodeChange> present();
  void require_same_servers();
  void await_events(const std::stop_token& stop);
  void follow_session(SessionState state, std::int64_t zxid, std::vector<NodeChange>& changes,
                      const std::stop_token& stop);
  void report(bool missed, std::vector<NodeChange>& changes, const std::stop_token& stop);
  bool read(Found& nodes, const std::stop_token& stop);
  Reading ask(const std::string& path);
  bool take(const std::string& path, Reading& reading, std::optional<Known>& found,
            const std::stop_token& stop);
  std::optional<NodeChange> change_of(const Event& event, const Known* found);
  NodeChange created(const Event& event, const Known* found);
  std::optional<NodeChange> changed(const Event& event, const Known* found);
  std::optional<NodeChange> listed(const Event& event, const Known* found);
  std::optional<NodeChange> deleted(const Event& event);

  Client& client_;
  Options options_;
  std::string server_;
  Mailbox mailbox_ = std::make_shared<Guarded<std::deque<Event>>>();
  WatchedTree tree_;
  NodeWatches watches_;     ///< in place of tree_, if is_native_
  bool is_native_ = false;  ///< persistent watches are used
  std::unordered_map<std::string, Known> known_;
  std::vector<Event>
      unreported_;  ///< events whose nodes could not be read, for lack of a connection
  bool lost_ = false;
  bool expired_ = false;
  std::int64_t lost_since_ = 0;
  // Under the monitor:
  SessionState state_ = SessionState::Connected;
  std::optional<Monitor::Listener> listener_;
};

}  // namespace zksh
