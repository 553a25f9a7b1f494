// Session::Handle: one handle of the C client, its unanswered calls and its mailboxes.
#pragma once

#include "session/session.h"
#include "session/session_lease.h"

#include <zookeeper/zookeeper.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace zksh {

/// A request whose answer has not come. The C client drops the unanswered ones when a handle is
/// closed; the list of them lets every waiter be told.
struct Call {
  Session::Handle* handle = nullptr;
  std::list<Call*>::iterator place;

  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  virtual ~Call() = default;
  virtual void settle_error(const Monitor::Held& held, int rc) = 0;
};

template <class T>
struct CallOf : Call {
  Pending<T> pending = std::make_shared<Answer<T>>();

  void settle(const Monitor::Held& held, int rc, T value) {
    (*pending)(held) = Outcome<T>{rc, std::move(value)};
  }
  void settle_error(const Monitor::Held& held, int rc) override { settle(held, rc, T{}); }
};

/// What the servers make of a credential: its scheme, and an id without the password.
Identity identity_of(const std::string& scheme, const std::string& credential);

struct Session::Handle {
  explicit Handle(Session& owner) : session(owner) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  /// Ends the session and fails what is unanswered with code::closing. Not on the C client's
  /// threads, which it joins.
  ~Handle();

  Session& session;
  zhandle_t* zh = nullptr;
  // Under the session's monitor:
  std::list<Call*> calls;
  /// By id and not by pointer: the C client drops unfired watches without a word. All watches of a
  /// mailbox share its id: the C client then fires one event for all that it has on a node, and
  /// takes linear time, not quadratic, to tell each of them of a session event.
  std::unordered_map<std::uintptr_t, Mailbox> mailboxes;
  std::uintptr_t last_mailbox = 0;

  /// Who left a one-shot watch on a node that has not fired: the context of its watcher, or null
  /// when there are several. By the hash of the path and kind: a clash only makes them several.
  std::unordered_map<std::size_t, void*> watches;
  void note_watch(const Monitor::Held& held, const std::string& path, WatchKind kind,
                  void* context);
  /// Whether nobody but this watcher waits for this.
  bool only_watches(const Monitor::Held& held, const std::string& path, WatchKind kind,
                    void* context) const;
  /// `type` is the C client's.
  void watches_fired(const Monitor::Held& held, int type, const std::string& path);

  /// Takes note that the server accepted a credential.
  void accepted(const Credential& credential);

  /// The handle's watcher: session events, and every printed watch. The context is the Handle.
  static void on_event(zhandle_t* zh, int type, int state, const char* path, void* context);
  /// The watcher of private watches. The context is the mailbox's id.
  static void on_private_watch(zhandle_t* zh, int type, int state, const char* path, void* context);

  /// The id of a mailbox, given to it when it has none.
  std::uintptr_t id_of(const Monitor::Held& held, const Mailbox& mailbox);
};

/// What the handle is doing, and what is known of the session. Under the monitor.
struct Session::State {
  std::shared_ptr<Handle> handle;
  std::string server;  ///< as the user gave it
  SessionState state = SessionState::Closed;
  bool opening = false;  ///< by a thread that found none, or an expired one
  bool ever_connected = false;
  Clock::time_point opened;
  Clock::time_point lost;  ///< when the connection was, if it ever was
  std::int64_t session_id = 0;
  int negotiated_timeout = 0;
  std::shared_ptr<SessionLease> lease;  ///< null while there is no session
  std::vector<Credential> credentials;  ///< that were added and accepted
  bool other_credentials = false;       ///< than those of the settings were sent
};

}  // namespace zksh
