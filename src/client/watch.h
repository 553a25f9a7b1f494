// Watch: who hears of the changes of a node and of the session, and what they are told.
#pragma once

#include "base/monitor.h"

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace zksh {

/// The life of a session, as the client knows it.
enum class SessionState {
  Closed,  ///< never connected, or closed by the user
  Connecting,
  Connected,
  ConnectedReadOnly,
  Expired,
  AuthFailed,
};

/// Whether requests reach a server, be it one that only reads.
inline bool is_connected(SessionState state) {
  return state == SessionState::Connected || state == SessionState::ConnectedReadOnly;
}

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
  bool printed = false;  ///< of a watch that was Watch::printed()
};

/// As ZooKeeper's own clients call it: "NodeDeleted"; "None" of a session's.
std::string_view event_name(Event::Type type);

/// Where the events of private one-shot watches arrive. A change of a node gives one event in a
/// mailbox, however many watches on that node report to it.
using Mailbox = std::shared_ptr<Guarded<std::deque<Event>>>;

/// Whether a read leaves a watch, and who hears of it.
class Watch {
 public:
  static Watch none() { return Watch{}; }
  /// The shell prints the event as zkCli does.
  static Watch printed() {
    Watch w;
    w.printed_ = true;
    return w;
  }
  static Watch into(Mailbox mailbox) {
    Watch w;
    w.mailbox_ = std::move(mailbox);
    return w;
  }

  bool is_set() const { return printed_ || mailbox_; }
  bool is_printed() const { return printed_; }
  const Mailbox& mailbox() const { return mailbox_; }

 private:
  Watch() = default;
  bool printed_ = false;
  Mailbox mailbox_;
};

/// exists() leaves a watch of data, on a missing node too.
enum class WatchKind { OfChildren, OfData };

}  // namespace zksh
