// Watch: watches, their events, and the states and the lease of a session.
#pragma once

#include "base/monitor.h"
#include "base/time.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace zksh {

/// The state of a session, as the client knows it.
enum class SessionState {
  Closed,  ///< never connected, or closed by the user
  Connecting,
  Connected,
  ConnectedReadOnly,
  Expired,
  AuthFailed,
};

/// Whether requests reach a server, read-only or not.
inline bool is_connected(SessionState state) {
  return state == SessionState::Connected || state == SessionState::ConnectedReadOnly;
}

/// zkCli's names (ZooKeeper.States), except EXPIRED, which Java's client calls CLOSED.
std::string_view state_name(SessionState state);

/// How long a session lives for certain.
struct Lease {
  BootClock::time_point end{};          ///< the clock's epoch if there is no session
  std::chrono::milliseconds timeout{};  ///< the least session timeout that a server granted it
};

struct Event {
  enum class Type {
    Session,
    Created,
    Deleted,
    DataChanged,
    ChildrenChanged,
    DataWatchRemoved,
    ChildWatchRemoved,
    PersistentWatchRemoved,
  };
  Type type = Type::Session;
  std::string path;  ///< empty for Session
  SessionState state = SessionState::Connected;
  bool printed = false;     ///< from a watch made with Watch::printed()
  bool persistent = false;  ///< from a server's persistent watch (Client::start_add_watch)
  /// Of the change, where the server says it (3.9); for Session, the last that the session has
  /// seen; else -1.
  std::int64_t zxid = -1;
};

/// ZooKeeper's name for it: "NodeDeleted"; "None" for Session.
std::string_view event_name(Event::Type type);

/// Where events of private one-shot watches are delivered. A change of a node is one event in a
/// mailbox, however many watches on that node report to it.
using Mailbox = std::shared_ptr<Guarded<std::deque<Event>>>;

/// Whether a read sets a watch, and where its event goes.
class Watch {
 public:
  static Watch none() { return {false, nullptr}; }
  /// The shell prints the event as zkCli does.
  static Watch printed() { return {true, nullptr}; }
  static Watch into(Mailbox mailbox) { return {false, std::move(mailbox)}; }

  bool is_set() const { return printed_ || mailbox_; }
  bool is_printed() const { return printed_; }
  const Mailbox& mailbox() const { return mailbox_; }

 private:
  Watch(bool printed, Mailbox mailbox) : printed_(printed), mailbox_(std::move(mailbox)) {}
  bool printed_;
  Mailbox mailbox_;
};

/// ZooKeeper's AddWatchMode of a watched node, the root of its watch.
enum class WatchMode {
  Persistent,  ///< creation and deletion of the node, changes of its data and its children
  Recursive,  ///< creation, deletion and data changes of it and all descendants; no children events
};

/// exists() sets a data watch, also on a missing node.
enum class WatchKind { OfChildren, OfData };

}  // namespace zksh
