// WatchedTree: the nodes under persistent watches, and what happened to them.
#pragma once

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

/// What ZooKeeper's AddWatchMode says of a watched node, the root of its watch.
enum class WatchMode {
  Persistent,  ///< its creation, deletion, changes of its data and of its list of children
  Recursive,   ///< creation, deletion, changes of the data of it and of all below; no lists
};

/// Persistent watches made of one-shot ones, since the C client 3.8 has no call for addWatch. Each
/// node has a one-shot watch on its existence and data, and one on its children where they matter.
/// After an event the node is read again, with a new watch; a difference between what is read and
/// what was known, beyond what the events said, becomes events too. So no change goes unnoticed,
/// but a node that came and went, or several writes, between two reads can pass as one event.
///
/// All members are to be called on one thread.
class WatchedTree {
 public:
  /// Events of the one-shot watches arrive in `mailbox`; the owner hands them to `note`.
  WatchedTree(Client& client, Mailbox mailbox) : client_(client), mailbox_(std::move(mailbox)) {}

  /// Watches a node, which need not exist, or changes the mode of its watch. `catch_up` must
  /// follow.
  void add(const std::string& path, WatchMode mode);
  /// False when the node is the root of no watch, or of none in that mode.
  bool remove(const std::string& path, std::optional<WatchMode> mode);
  bool empty() const { return roots_.empty(); }
  const std::map<std::string, WatchMode>& roots() const { return roots_; }

  /// Takes note of an event: of a private watch, of a printed one, or of the session.
  void note(const Event& event);
  /// Whether catch_up saw nodes gone whose end had not been noted: it is in the mailbox by now, or
  /// the servers withhold it. Calls for another round of notes, resolve_doubts and catch_up.
  bool in_doubt() const { return !doubts_.empty(); }
  /// To be called when all events of the last catch_up's time have been noted.
  void resolve_doubts();
  /// Reads what the notes and additions leave open, with many requests in flight. Blocks; throws
  /// Cancelled. Returns the code of the first request that failed with the connection, or ok; what
  /// it should have read is read when the session is connected again.
  int catch_up(const std::stop_token& stop);
  /// What is to be told after catch_up, in order. The events of printed watches are among them, but
  /// for those that a persistent watch tells of anyway: zkCli prints these once.
  std::vector<Event> take_events();
  /// The nodes that were found to lack the permission to list their children, since the last call.
  std::vector<std::string> take_unlisted() { return std::exchange(unlisted_, {}); }

 private:
  /// Of a gap in which more was written than this (an hour without a connection, say).
  static constexpr std::int64_t most_told_of_a_gap = 1000;

  struct Node {
    std::uint64_t serial = 0;  ///< tells a node from one that had its path before
    bool exists = false;
    bool ephemeral = false;
    bool unreadable = false;  ///< its children may not be listed, and servers withhold its events
    bool children_armed = false;  ///< the watch on its children is set
    bool stat_asked = false;
    bool children_asked = false;
    /// Where what the children's list shows is told: behind all notes that wanted the list.
    std::size_t children_slot = 0;
    std::int32_t version = 0;
    std::int32_t cversion = 0;
    std::int32_t num_children = 0;
    std::int32_t writes_told = 0;  ///< by events since the node was last read
    std::int32_t lists_told = 0;   ///< likewise
    std::int64_t czxid = 0;
    std::vector<std::string> children{};  ///< sorted, as last listed
  };
  struct Found {
    std::int64_t zxid;
    Event event;
  };
  /// What one note leads to. The notes' order is that of the events to tell.
  struct Slot {
    std::vector<Event> before;
    std::vector<Found> found;  ///< by reading; told in the order of their zxids
    std::vector<Event> after;
  };
  struct Request {
    enum class What { Stat, Children };
    What what;
    std::string path;
    std::uint64_t serial;  ///< of the node that is asked for
    std::size_t slot;
    Pending<Stat> stat{};
    Pending<Children> children{};
  };

  bool is_root(const std::string& path) const { return roots_.contains(path); }
  bool tells_lists(const std::string& path) const;
  bool is_recursive(const std::string& path) const;
  bool is_told_anyway(const Event& event) const;  ///< by a persistent watch

  void note_session(SessionState state);
  void note_printed(const Event& event);
  void note_change(const Event& event);
  void note_deleted(const Event& event, Node& node);
  std::size_t new_slot();
  void ask_stat(const std::string& path, Node& node, std::size_t slot);
  void ask_children(const std::string& path, Node& node, std::size_t slot);
  void ask_children_of_parent(const std::string& path, std::size_t slot);

  Node new_node() { return {.serial = ++last_serial_}; }
  Node* asked(const Request& request);
  void send(Request& request);
  int take_answer(Request& request, const std::stop_token& stop);
  void take_stat(const Request& request, Node& node, const Stat& stat);
  void take_absence(const Request& request, const Node& node);
  void withhold(const Request& request, Node& node);
  void take_children(const Request& request, Node& node, Children children);
  void find(std::size_t slot, std::int64_t zxid, Event::Type type, const std::string& path,
            std::int64_t times = 1);
  void drop_uncovered();

  Client& client_;
  Mailbox mailbox_;
  std::map<std::string, WatchMode> roots_;
  std::unordered_map<std::string, Node> nodes_;
  std::uint64_t last_serial_ = 0;
  bool lost_ = false;                 ///< the connection, and with it all one-shot watches
  std::optional<Event> last_change_;  ///< the last event, if it was private and is told of
  std::vector<Slot> slots_;
  std::deque<Request> requests_;  ///< not sent yet
  std::vector<Request> doubts_;   ///< that were answered as if by another node
  std::vector<std::string> unlisted_;
};

}  // namespace zksh
