// Session::Handle: a handle of the C client, its unanswered calls and its mailboxes.
#pragma once

#include "base/monitor.h"
#include "client/watch.h"
#include "session/answer_notes.h"
#include "session/session.h"
#include "session/session_lease.h"
#include "session/trying_order.h"

#include <zookeeper/zookeeper.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace zksh {

/// The one-shot watches of a session, and the unanswered reads that will set some. A server has one
/// watch per node and kind for all of them, so it may be removed there only if nobody else needs
/// it. Used under the session's monitor.
///
/// A watch begins when the answer arrives, not when the read is sent: an event in between belongs
/// to an earlier watch, and ends only that. Report answers and events in the order in which they
/// arrived.
class WatcherTable {
 public:
  /// The C client's context of a watcher, identified by its address alone.
  using Who = const void*;

  /// For `named`, paths are kept too; others may have as many watches as there are nodes.
  explicit WatcherTable(Who named = nullptr) : named_(named) {}

  /// A read that sets a watch is sent.
  void asked(const std::string& path, WatchKind kind, Who who);
  /// Its answer arrived, or will not arrive; `left`: it has set a watch.
  void answered(const std::string& path, WatchKind kind, Who who, bool left);
  /// All watches of this kind on the node have fired.
  void fired(const std::string& path, WatchKind kind);
  /// The owner no longer wants the watch.
  void forgotten(const std::string& path, WatchKind kind, Who who);
  /// Whether only `who` watches this, or is about to.
  bool only(const std::string& path, WatchKind kind, Who who) const;
  std::size_t size() const { return watchers_.size(); }
  /// The watches of `named`, and the number of others', without those of `without`.
  OpenWatches open(Who without) const;

 private:
  struct Watcher {
    Who who = nullptr;
    int asked = 0;  ///< number of unanswered reads
    bool watches = false;
  };
  /// By hash of path and kind; nodes whose hashes collide are treated as one.
  using Watchers = std::unordered_multimap<std::size_t, Watcher>;

  static std::size_t key_of(const std::string& path, WatchKind kind);
  Watchers::iterator find(std::size_t key, Who who);
  void drop_if_idle(Watchers::iterator place);

  Who named_;
  Watchers watchers_;
  std::set<OpenWatches::Place> places_;  ///< of the watches of named_
};

/// An unanswered request. The C client drops these when a handle is closed; the list of calls lets
/// every waiter be notified.
struct Call {
  /// The watch that a read sets.
  struct Watching {
    std::string path;
    WatchKind kind = WatchKind::OfData;
    WatcherTable::Who who = nullptr;
    bool on_missing = false;  ///< also on a missing node
  };

  Session::Handle* handle = nullptr;
  std::list<Call*>::iterator place;
  std::optional<Watching> watching{};
  std::optional<Watching> unwatching{};  ///< what the request removes if it succeeds

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

/// The identity that servers derive from a credential: its scheme, and an id without the password.
Identity identity_of(const std::string& scheme, const std::string& credential);

struct Session::Handle {
  Handle(Session& owner, ConnectString with) : session(owner), servers(std::move(with)) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  /// Ends the session and fails unanswered calls with code::closing. Not on the C client's threads,
  /// which it joins.
  ~Handle();

  Session& session;
  const ConnectString servers;
  zhandle_t* zh = nullptr;  ///< set before the handle is published
  // Under the session's monitor:
  SessionState state = SessionState::Connecting;
  bool ever_connected = false;
  Clock::time_point opened;
  Clock::time_point lost;    ///< when the connection was lost, if ever
  std::string connected_to;  ///< the last server, HOST:PORT; empty before the first
  AddressNames names;        ///< of the servers; set before the handle is published
  std::int64_t session_id = 0;
  int negotiated_timeout = 0;
  std::shared_ptr<SessionLease> lease;  ///< null until connected
  Clock::time_point lease_wanted{};     ///< when somebody first asked how long it lasts
  std::shared_ptr<AnswerNotes> notes;   ///< null until connected
  std::vector<Credential> credentials;  ///< added and accepted
  bool other_credentials = false;       ///< others than the settings' were sent
  int uses = 0;                         ///< number of threads that are sending
  bool out_of_use = false;              ///< somebody waits for the last of these
  std::list<Call*> calls;
  /// By id, not by pointer: the C client silently drops unfired watches. All watches of a mailbox
  /// share its id, so the C client fires one event for all that it has on a node, and needs linear,
  /// not quadratic, time to report a session event.
  std::unordered_map<std::uintptr_t, Mailbox> mailboxes;
  std::uintptr_t last_mailbox = 0;
  WatcherTable watchers{this};  ///< by the contexts of the C client's watchers

  /// Records a watch event. `type` is the C client's.
  void watches_fired(const Monitor::Held& held, int type, const std::string& path);
  /// Records and reports the session's state if it has changed.
  void note_state(const Monitor::Held& held, SessionState now, zhandle_t* from);
  /// Reports an event if this handle is the session's.
  void report(const Monitor::Held& held, const Event& event);

  /// The zxid that created a node, for the completion of its call; 0 if it is not known.
  std::int64_t czxid_of(const std::string& path);
  /// The content of a large answer, given the Stat that the C client passes to a completion;
  /// nullopt if the answer was not large.
  std::optional<LargeAnswer> take_content(const ::Stat* stat);
  /// Records that the server accepted a credential.
  void accepted(const Credential& credential);

  /// The handle's watcher, for session events and printed watches. The context is the Handle.
  static void on_event(zhandle_t* zh, int type, int state, const char* path, void* context);
  /// The watcher for private watches. The context is the mailbox's id.
  static void on_private_watch(zhandle_t* zh, int type, int state, const char* path, void* context);

  /// The id of a mailbox, assigned if it has none.
  std::uintptr_t id_of(const Monitor::Held& held, const Mailbox& mailbox);
};

/// Keeps the handle from being closed while something is sent with it; not even the user can close
/// it, who may be on one of its own threads.
class Session::Use {
 public:
  explicit Use(Session& session);
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use();

  /// Null if there is none.
  Handle* get() const { return handle_; }
  Handle* operator->() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  Monitor& monitor_;
  Handle* handle_;
};

/// Wakes a thread that rarely has work. The monitor would be too costly: every change under it
/// makes all waiters check their conditions, with a thousand sessions half of all CPU time.
class Bell {
 public:
  void ring() {
    const std::lock_guard lock(mutex_);
    rung_ = true;
    condition_.notify_one();
  }
  /// Blocks until the bell rings, or returns at once if it has rung; false if a stop is requested.
  bool await(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    return condition_.wait(lock, stop, [this] { return std::exchange(rung_, false); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any condition_;
  bool rung_ = false;
};

/// The session's phase, and what belongs to it. Under the monitor; only Session::enter changes the
/// phase.
struct Session::State {
  Phase phase = Phase::Idle;
  std::string server;              ///< as the user gave it
  std::unique_ptr<Handle> handle;  ///< if open; or an expired one that the opener has not ended yet
  std::size_t waits = 0;           ///< number of waiters for a connection
  Clock::time_point waiting_since;  ///< since when the first has waited
  std::size_t turn = 0;             ///< counts the phases: work from an earlier one is stale
  std::size_t asked = 0;            ///< how often somebody has started to wait for the opener
  std::size_t failures = 0;         ///< of the opener
  std::exception_ptr problem;       ///< its latest failure
  std::int64_t closed = 0;          ///< Client::closed_session
  bool wants_tick = false;          ///< the opener should ask the server for its tick
  Bell opener;                      ///< rings when the opener has work; not under the monitor

  Handle* open_handle() const { return phase == Phase::Open ? handle.get() : nullptr; }
  bool needs_opener() const {
    return phase == Phase::Idle || (phase == Phase::Open && handle->state == SessionState::Expired);
  }
};

/// What this process knows about servers, by address; shared by all its sessions.
///
/// create2, containers, TTLs, reconfig and removeWatches came with 3.5. Servers of 3.4 end the
/// connection at such a request, as does ClickHouse Keeper, some without an answer; requests in
/// flight are then lost, and locks in doubt. So no such request is sent to an unknown server. The
/// version that a server reports is unreliable (Debian's 3.9.3 once called itself 3.8.0), and
/// four-letter words may be forbidden. But from 3.5 on there is a node /zookeeper/config, which 3.4
/// and Keeper lack, and every server answers a read of it. That read is sent before the first such
/// request. Other creations do not need it: they use plain create, and get their czxid from
/// AnswerNotes.
class KnownServers {
 public:
  /// nullopt: not known.
  std::optional<bool> is_newer(const Monitor::Held& /*held*/, const std::string& address) const {
    const auto found = newer_.find(address);
    return found == newer_.end() ? std::nullopt : std::optional(found->second);
  }
  void learn(const Monitor::Held& /*held*/, const std::string& address, bool newer) {
    if (!address.empty()) newer_[address] = newer;
  }

  /// The tick of a server, by HOST:PORT; 0 if it does not report one, nullopt if it was not asked.
  std::optional<std::chrono::milliseconds> tick(const Monitor::Held& /*held*/,
                                                const std::string& server) const {
    const auto found = ticks_.find(server);
    return found == ticks_.end() ? std::nullopt : std::optional(found->second);
  }
  void learn_tick(const Monitor::Held& /*held*/, const std::string& server,
                  std::chrono::milliseconds tick) {
    ticks_[server] = tick;
  }

 private:
  std::map<std::string, bool> newer_;
  std::map<std::string, std::chrono::milliseconds> ticks_;
};

}  // namespace zksh
