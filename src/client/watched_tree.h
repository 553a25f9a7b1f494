// WatchedTree: persistent watches made of one-shot watches.
#pragma once

#include "base/error.h"
#include "client/client.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace zksh {

/// The watched nodes would take too much memory.
struct TooManyNodes : Error {
  using Error::Error;
};

/// Servers before 3.6 have no persistent watches. So each node gets a one-shot watch on its
/// existence and data, and where needed one on its children. After an event the node is read again,
/// with a new watch; differences from what was known, beyond what the events said, become events
/// too. So no change goes unnoticed, but a node that came and went, or several writes, between two
/// reads may appear as one event.
///
/// All members must be called on one thread.
class WatchedTree {
 public:
  /// The most memory that the watched nodes may take, as estimated: a million nodes with paths of
  /// 150 bytes.
  static constexpr std::size_t usual_most_bytes = std::size_t{1} << 30U;

  /// Events of the one-shot watches are delivered to `mailbox`; the owner passes them to `note`.
  WatchedTree(Client& client, Mailbox mailbox, std::size_t most_bytes = usual_most_bytes)
      : client_(client), mailbox_(std::move(mailbox)), most_bytes_(most_bytes) {}

  /// Watches a node, which need not exist, or changes the mode of its watch. Call `catch_up` next.
  void add(const std::string& path, WatchMode mode);
  /// False if the node is not the root of a watch in that mode (nullopt: any mode).
  bool remove(const std::string& path, std::optional<WatchMode> mode);
  /// Removes all watches, and forgets what was to be reported.
  void clear();
  bool empty() const { return roots_.empty(); }
  const std::map<std::string, WatchMode>& roots() const { return roots_; }

  /// Records an event of a private watch, of a printed one, or of the session.
  void note(const Event& event);
  /// Whether catch_up found nodes gone whose deletion was not noted: its event is in the mailbox by
  /// now, or the servers withhold it. If so, call note, resolve_doubts and catch_up again.
  bool in_doubt() const { return !doubts_.empty(); }
  /// Call when all events up to the end of the last catch_up have been noted.
  void resolve_doubts();
  /// Reads all that is needed after notes and additions, with many requests in flight. Blocks;
  /// throws Cancelled, and TooManyNodes; the nodes that did not fit are not watched then, so a
  /// watch must be removed, or all of them. Returns ok, or the code of a request that failed. If
  /// that was because of the connection, no more are sent, and everything is read again once the
  /// next connection is noted.
  int catch_up(const std::stop_token& stop);
  /// When the last answer arrived, for await_reconnection.
  Clock::time_point last_answer() const { return last_answer_; }
  /// Call after catch_up: a root whose Stat may not be read, so that servers send no events about
  /// it.
  std::optional<std::string> hidden_root() const;
  /// The events to report after catch_up, in order. Includes events of printed watches, except
  /// those that a persistent watch reports anyway: zkCli prints these once.
  std::vector<Event> take_events();
  /// The nodes found, since the last call, whose children may not be listed for lack of permission.
  std::vector<std::string> take_unlistable() { return std::exchange(unlistable_, {}); }

 private:
  /// The most events of one kind to report for a node after a gap, such as an hour without a
  /// connection.
  static constexpr std::int64_t max_gap_events = 1000;

  struct Node {
    std::uint64_t serial = 0;  ///< distinguishes nodes that had the same path
    bool exists = false;
    bool ephemeral = false;
    bool unreadable = false;      ///< its children may not be listed; servers withhold its events
    bool children_armed = false;  ///< the watch on its children is set
    bool stat_requested = false;
    bool children_requested = false;
    /// The slot for what the list of children shows: after all notes that needed the list.
    std::size_t children_slot = 0;
    std::int32_t version = 0;
    std::int32_t cversion = 0;
    std::int32_t num_children = 0;
    std::int32_t reported_writes = 0;  ///< writes reported by events since the node was last read
    std::int32_t reported_lists = 0;   ///< children events, likewise
    std::int64_t czxid = 0;
    std::vector<std::string> children{};  ///< sorted, as last listed
  };
  struct Found {
    std::int64_t zxid;
    Event event;
  };
  /// The events that result from one note. They are reported in the order of the notes.
  struct Slot {
    std::vector<Event> before;
    std::vector<Found> found;  ///< by reading; reported in order of zxid
    std::vector<Event> after;
  };
  struct Request {
    bool of_stat;  ///< else of the children
    std::string path;
    std::uint64_t serial;  ///< of the node it reads
    std::size_t slot;
    Pending<Stat> stat{};
    Pending<Children> children{};
  };

  bool is_root(const std::string& path) const { return roots_.contains(path); }
  bool reports_children(const std::string& path) const;
  bool is_recursive(const std::string& path) const;
  bool is_reported_anyway(const Event& event) const;  ///< by a persistent watch

  void note_session(SessionState state);
  void lose_watches();
  void note_printed(const Event& event);
  void note_change(const Event& event);
  void note_deleted(const Event& event, Node& node);
  std::size_t new_slot();
  void request_stat(const std::string& path, Node& node, std::size_t slot);
  void request_children(const std::string& path, Node& node, std::size_t slot);
  void request_parents_children(const std::string& path, std::size_t slot);

  Node new_node() { return {.serial = ++last_serial_}; }
  bool add_child(const std::string& path, std::size_t slot);
  void erase(const std::string& path);
  Node* node_of(const Request& request);
  void drop_requests();
  void send(Request& request);
  int take_answer(Request& request, const std::stop_token& stop);
  void take_stat(const Request& request, Node& node, const Stat& stat);
  void take_absence(const Request& request, const Node& node);
  void withhold(const Request& request, Node& node);
  void take_children(const Request& request, Node& node, Children children);
  void find(std::size_t slot, std::int64_t zxid, Event::Type type, const std::string& path,
            std::int64_t times = 1);
  void drop_uncovered();
  void forget_nodes();

  Client& client_;
  Mailbox mailbox_;
  std::size_t most_bytes_;
  std::map<std::string, WatchMode> roots_;
  std::unordered_map<std::string, Node> nodes_;
  std::size_t bytes_ = 0;  ///< estimated, of nodes_
  std::string refusal_;    ///< why a node was not added; empty: none was left out
  std::uint64_t last_serial_ = 0;
  bool lost_ = false;  ///< the connection is lost, and with it all one-shot watches
  Clock::time_point last_answer_ = Clock::now();
  std::optional<Event> last_change_;  ///< the last event, if it was private and is reported
  std::vector<Slot> slots_;
  std::deque<Request> requests_;  ///< not sent yet
  std::vector<Request> doubts_;   ///< whose answers seemed to be about another node
  std::vector<std::string> unlistable_;
};

}  // namespace zksh
