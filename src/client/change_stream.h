// ChangeStream: reports the changes of nodes, in order, across lost connections and sessions.
#pragma once

#include "client/node_watches.h"
#include "client/nodes.h"
#include "client/watch.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace zksh {

class Client;

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
/// Subtrees are followed with the server's persistent watches (NodeWatches), which servers have
/// from 3.6 on. Without values, each event is a change, and nothing is kept: so it is not known
/// what was there before, nor which nodes were deleted during a gap, only that their parent's list
/// has changed. Each node is read after its event, and may have changed again by then.
///
/// Single nodes are followed with one-shot watches, which all servers have. There, and with values,
/// what was read is kept, and a change is what differs from it: several writes between two reads
/// are one change, whose versions tell how many there were, and no change is reported twice.
///
/// All members must be called on one thread.
class ChangeStream {
 public:
  struct Options {
    std::vector<std::string> paths{};  ///< they need not exist
    bool recursive = false;  ///< also all descendants; lists of children are then not reported
    bool values = false;     ///< report old and new values; keeps all values in memory, up to 1 GiB
    bool initial = true;     ///< `begin` returns the existing nodes
    Survey survey{};         ///< of subtrees; needed for their values, and for changes during a gap
  };

  ChangeStream(Client& client, Options options);
  ChangeStream(const ChangeStream&) = delete;
  ChangeStream& operator=(const ChangeStream&) = delete;
  /// Removes the watches.
  ~ChangeStream();

  /// Sets the watches; returns the existing nodes as changes of type Present, sorted by path. Must
  /// be called once, first. Blocks; throws ZkError (unimplemented: the server has no watches of
  /// subtrees), Cancelled, and Error if the values take too much memory.
  std::vector<NodeChange> begin(const std::stop_token& stop);
  /// Blocks until there are changes. Throws Cancelled, ZkError{invalid_state} if the session was
  /// closed, {no_auth} if a single node may no longer be read, Error if the client now has a
  /// session with other servers, or the values take too much memory.
  std::vector<NodeChange> next(const std::stop_token& stop);
  /// The nodes found, since the last call, whose children may not be listed for lack of permission.
  std::vector<std::string> take_unlistable() { return std::exchange(unlistable_, {}); }

 private:
  static constexpr std::size_t most_kept_bytes = std::size_t{1} << 30U;

  /// A node as it was last read.
  struct Known {
    Stat stat{};
    std::optional<Data> value{};
    std::vector<std::string> children{};  ///< sorted; only of single nodes
    std::int32_t cversion = -1;           ///< of `children`; -1: they may not be listed
  };
  /// A node that must be read, since it has had an event, or after a gap.
  struct Due {
    std::string path;
    Event::Type event = Event::Type::Session;  ///< Session: none
    std::optional<Known> found{};              ///< as it is now; nullopt: there is no such node
  };
  /// Requests for a node that is being read again.
  struct Reading {
    Pending<Stat> stat{};
    Pending<Node> node{};
    Pending<Children> children{};
  };

  bool set_up(const std::stop_token& stop);
  std::map<std::string, Stat> survey(const std::stop_token& stop);
  std::vector<NodeChange> present(const std::stop_token& stop);
  void require_same_servers();
  void await_events(const std::stop_token& stop);
  void follow_session(SessionState state, std::int64_t zxid, std::vector<NodeChange>& changes,
                      const std::stop_token& stop);
  void catch_up(bool missed, std::vector<NodeChange>& changes, const std::stop_token& stop);
  bool note_differences(const std::stop_token& stop);
  void report_events(bool missed, std::vector<NodeChange>& changes, const std::stop_token& stop);
  bool read(const std::stop_token& stop);
  Reading send_reads(const std::string& path);
  bool receive(Due& node, Reading& reading, const std::stop_token& stop);
  void compare(Due node, bool missed, std::vector<NodeChange>& changes);
  void keep(const std::string& path, std::optional<Known> node);

  Client& client_;
  Options options_;
  std::string server_;
  Mailbox mailbox_ = std::make_shared<Guarded<std::deque<Event>>>();
  NodeWatches watches_;                 ///< of subtrees
  std::map<std::string, Known> known_;  ///< single nodes, or all nodes if values are reported
  std::size_t kept_bytes_ = 0;          ///< estimated, of known_
  std::vector<Due> due_;                ///< in the order of their first events
  std::vector<std::string> unlistable_;
  bool lost_ = false;
  bool expired_ = false;
  std::int64_t lost_since_ = 0;
  // Under the monitor:
  SessionState state_ = SessionState::Connected;
  std::optional<Monitor::Listener> listener_;
};

}  // namespace zksh
