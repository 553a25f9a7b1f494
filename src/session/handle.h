// Session's inner parts, for the files that implement it: a handle of the C client, its requests,
// and what belongs to a phase.
#pragma once

#include "base/monitor.h"
#include "client/connect_string.h"
#include "client/host_addresses.h"
#include "client/nodes.h"
#include "client/server_version.h"
#include "client/tls.h"
#include "client/watch.h"
#include "session/reply_validator.h"
#include "session/sasl.h"
#include "session/session.h"
#include "session/session_lease.h"
#include "session/wire.h"
#include "session/wire_socket.h"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace zksh {

/// The watches of a session, and the unanswered requests that will set some. A server keeps one
/// one-shot watch per node and kind for the whole session, so it may be removed there only if
/// nobody else needs it. Used under the session's monitor.
///
/// A watch begins when the answer arrives, not when the request is sent: an event in between
/// belongs to an earlier watch, and ends only that; and the server may refuse. Report answers and
/// events in the order in which they arrived.
class WatcherTable {
 public:
  /// The C client's context of a watcher, identified by its address alone.
  using Who = const void*;

  /// For `named`, paths are kept too; others may have as many watches as there are nodes.
  explicit WatcherTable(Who named = nullptr) : named_(named) {}

  /// A read that sets a watch is sent.
  void asked(const std::string& path, WatchKind kind, Who who);
  /// Its answer arrived, or never will; `left`: the read has set a watch.
  void answered(const std::string& path, WatchKind kind, Who who, bool left);
  /// Whether there are watches on the node, or unanswered reads that will set some.
  bool has(const std::string& path, WatchKind kind) const {
    return watchers_.contains(key_of(path, kind));
  }
  /// All watches of this kind on the node have fired.
  void fired(const std::string& path, WatchKind kind);
  /// The owner no longer wants the watch.
  void forgotten(const std::string& path, WatchKind kind, Who who);
  /// Whether only `who` watches this, or is about to.
  bool only(const std::string& path, WatchKind kind, Who who) const;
  std::size_t size() const { return watchers_.size(); }
  // Persistent watches: a mailbox has one per node.

  /// A persistent watch is asked for.
  void asked(const std::string& path, WatchMode mode, const Mailbox& mailbox);
  /// The answer arrived, or will not arrive.
  void answered(const std::string& path, WatchMode mode, const Mailbox& mailbox, bool is_granted);
  /// Ends the mailbox's persistent watch on this node; false if it has none.
  bool end_persistent(const std::string& path, const Mailbox& mailbox);
  /// The connection is lost, and with it all persistent watches.
  void end_all_persistent() { persistent_.clear(); }
  /// Whether there is one on exactly this node, or may soon be.
  bool has_persistent(const std::string& path) const { return persistent_.contains(path); }
  /// Whether the answer to the last request for one on this node is still to come.
  bool is_in_doubt(const std::string& path) const;
  /// Whether one reports all that a one-shot watch on the node would. `or_may`: or may soon do.
  bool reports(std::string_view path, WatchKind kind, bool or_may = false) const;
  /// Whether all others on the node have this mode.
  bool agree(const std::string& path, WatchMode mode, const Mailbox& mailbox) const;
  /// The mailboxes that get an event of this type for this node. The first event may come before
  /// the answer.
  std::vector<Mailbox> receivers(const std::string& path, Event::Type type) const;

  /// The watches of `named`, and the number of all others except those of `without`.
  OpenWatches open(Who without) const;

 private:
  struct Watcher {
    Who who = nullptr;
    int asked = 0;  ///< number of unanswered reads
    bool watches = false;
  };
  /// By hash of path and kind; nodes whose hashes collide are treated as one.
  using Watchers = std::unordered_multimap<std::size_t, Watcher>;

  struct Persistent {
    Mailbox mailbox;
    std::optional<WatchMode> granted{};
    std::optional<WatchMode> asked{};  ///< in the last of the unanswered requests
    int unanswered = 0;
  };
  using PersistentWatches = std::multimap<std::string, Persistent, std::less<>>;
  PersistentWatches::iterator find(const std::string& path, const Mailbox& mailbox);

  static std::size_t key_of(const std::string& path, WatchKind kind);
  Watchers::iterator find(std::size_t key, Who who);
  void drop_if_idle(Watchers::iterator place);

  Who named_;
  Watchers watchers_;
  std::set<OpenWatches::Place> places_;  ///< of the watches of named_
  PersistentWatches persistent_;         ///< by path
};

/// An unanswered request. The C client completes it, at the latest when its handle is closed.
struct Call {
  /// The watch that a read sets.
  struct Watching {
    std::string path;
    WatchKind kind = WatchKind::OfData;
    WatcherTable::Who who = nullptr;
    bool on_missing = false;  ///< also on a missing node
  };

  /// The persistent watch that a request sets.
  struct Persistent {
    std::string path;
    WatchMode mode{};
    Mailbox mailbox{};
  };

  Session::Handle* handle = nullptr;
  std::optional<Watching> watching{};
  std::optional<Persistent> persistent{};
  std::optional<Watching> unwatching{};  ///< what the request removes if it succeeds
  bool makes_ephemerals = false;
  std::vector<std::string> removals{};  ///< ephemerals of the session that it removes

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

struct Session::Handle final : WireOwner {
  Handle(Session& owner, ConnectString with)
      : session(owner), servers(std::move(with)), wire(*this) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  /// Not on the wires' thread.
  ~Handle() { wire.close(); }

  Clock::time_point tend() override;
  bool takes_writes(const SocketAddress& server) override;
  std::unique_ptr<TlsConnection> secure(const SocketAddress& server,
                                        std::uint64_t connection) override;
  void tls_ended(const SocketAddress& server, const TlsConnection& connection) override;
  bool wants_sasl() override { return !session.settings_.security.sasl.mechanism.empty(); }
  void continue_sasl(const SocketAddress& server, std::uint64_t connection,
                     const std::string* token, std::int32_t error) override;
  void event_came(const WireEvent& event) override;
  bool is_reported(std::string_view path, bool of_children) override {
    const auto node = own_path(path);
    return node && session.monitor_.with_lock([&](const Monitor::Held&) {
      return watchers.reports(*node, of_children ? WatchKind::OfChildren : WatchKind::OfData);
    });
  }

  Session& session;
  const ConnectString servers;
  Wire wire;
  // Under the session's monitor:
  SessionState state = SessionState::Connecting;
  bool ever_connected = false;
  bool is_ending = false;  ///< the server was asked to end the session: report no more states
  Clock::time_point opened;
  Clock::time_point lost;       ///< when the connection was lost, if ever
  std::string connected_to;     ///< the last server, HOST:PORT; empty before the first
  std::string address;          ///< of the server that it is connected to, or tries, numeric
  AddressNames names;           ///< of the servers
  Clock::time_point looked_up;  ///< when these were
  std::int64_t seen_more = 0;   ///< Session::seen_more
  std::int64_t session_id = 0;
  int negotiated_timeout = 0;
  std::shared_ptr<SessionLease> lease;           ///< null until connected
  Clock::time_point lease_wanted{};              ///< when somebody first asked how long it lasts
  std::shared_ptr<AnswerNotes> notes;            ///< null until connected
  std::vector<Credential> credentials;           ///< added and accepted
  std::vector<Pending<Nothing>> authentication;  ///< what `authenticate` sent last
  bool other_credentials = false;                ///< others than the settings' were sent
  std::size_t calls = 0;                         ///< number of unanswered requests
  /// Those that the session may have; an empty path stands for any whose name is not known.
  std::set<std::string> ephemerals;
  BootClock::time_point beat;  ///< the last heartbeat
  struct TlsFailure {
    std::string reason;  ///< the latest
    int tries = 0;       ///< consecutive failures; a lasting one counts as enough_tls_tries
  };
  std::map<std::string, TlsFailure> tls_failures;  ///< by the server's name, HOST:PORT
  std::string sasl_problem;   ///< of this machine's Kerberos, for the user; empty if it works
  std::string kerberos_user;  ///< the principal; empty without Kerberos
  // With the wire's Hold:
  std::shared_ptr<SaslExchange> sasl;
  std::uint64_t sasl_connection = 0;  ///< the connection that `sasl` is for
  std::uint64_t sasl_step = 0;        ///< counts steps, and connections: an earlier one is stale
  bool sasl_begins = false;           ///< that step is an exchange's first
  Clock::time_point sasl_until = Clock::time_point::max();  ///< how long it may take
  /// By the context of their watches: a number that the C client passes back, not a pointer, since
  /// it silently drops unfired watches. All watches of a mailbox share it, so the C client fires
  /// one event for all of them on a node, and needs linear, not quadratic, time to report a session
  /// event.
  std::unordered_map<void*, Mailbox> mailboxes;
  std::uintptr_t last_mailbox = 0;
  WatcherTable watchers{this};  ///< by the contexts of the C client's watchers
  /// With the wire's Hold, by path: reads that set a watch where it is not known yet whether the
  /// server has a persistent one. Called with the handle, or null if that is closed.
  std::multimap<std::string, std::function<void(zhandle_t*)>> waiting;
  Pending<Nothing> zxid_question;  ///< the last of ask_zxid; with the Hold

  void look_for_restored_servers();
  void limit_sasl();
  void finish_sasl(const SaslExchange::Step& step);
  /// The path of a node without the chroot; nullopt if the node is not below it.
  std::optional<std::string> own_path(std::string_view whole) const;
  /// Has the server show its last zxid, which is no less than that of any event before the answer;
  /// with the Hold.
  void ask_zxid();
  /// Sends the reads that have waited.
  void send_waiting(const std::string& path);

  /// The names, HOST:PORT, that the user gave for a server with this numeric address and port.
  std::vector<std::string> names_of(const Monitor::Held& held, const std::string& server) const;
  /// The hosts of these names.
  std::vector<std::string> hosts_of(const std::string& server) const;
  /// Whether TLS has failed with all servers, for a permanent reason or several times.
  bool tls_failed_everywhere(const Monitor::Held& held) const;
  /// Call when a connection is made, before it is reported: sends the settings' credentials that
  /// have not been accepted yet. False if the connection is lost again.
  bool authenticate();
  /// Whether there is a connection on which the settings' credentials are in force.
  bool is_ready(const Monitor::Held& held) const {
    return is_connected(state) && std::ranges::all_of(authentication, [&](const auto& sent) {
             // A refused credential is followed by the session's end.
             const auto& answer = (*sent)(held);
             return answer && answer->code == code::ok;
           });
  }
  /// The path that was watched, from the path of an event as the C client reports it.
  std::string watched_path(const char* reported) const;
  /// Records a watch event. `type` is the C client's.
  void watches_fired(const Monitor::Held& /*held*/, int type, const std::string& path) {
    if (type != ZOO_CHILD_EVENT) watchers.fired(path, WatchKind::OfData);
    if (type == ZOO_CHILD_EVENT || type == ZOO_DELETED_EVENT)
      watchers.fired(path, WatchKind::OfChildren);
  }
  /// Records and reports the session's state if it has changed.
  void note_state(const Monitor::Held& held, SessionState now, zhandle_t* from);
  /// Reports an event if this handle is the session's.
  void report(const Monitor::Held& held, const Event& event);

  /// The zxid that created a node, for the completion of its call; 0 if it is not known.
  std::int64_t czxid_of(const std::string& path);
  /// Records that the server accepted a credential.
  void accepted(const Credential& credential);

  /// The handle's watcher, for session events and printed watches. The context is the Handle.
  static void on_event(zhandle_t* zh, int type, int state, const char* path, void* context);
  /// The watcher for private watches. The context is context_of the mailbox.
  static void on_private_watch(zhandle_t* zh, int type, int state, const char* path, void* context);

  /// The context of a mailbox's watches, assigned if it has none. Not under the monitor.
  void* context_of(const Mailbox& mailbox);
};

/// Whether a session is over.
inline bool is_dead(SessionState state) {
  return state == SessionState::Expired || state == SessionState::AuthFailed;
}

/// Wakes a thread that rarely has work. The monitor would be too costly: every change under it
/// makes all waiters check their conditions, with a thousand sessions half of all CPU time.
class Bell {
 public:
  void ring() {
    const std::lock_guard lock(mutex_);
    rung_ = true;
    condition_.notify_one();
  }
  /// Blocks until the bell rings, or returns at once if it has rung; false at the deadline, or if a
  /// stop is requested.
  bool await(const std::stop_token& stop, Clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    return condition_.wait_until(lock, stop, deadline,
                                 [this] { return std::exchange(rung_, false); });
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
  std::shared_ptr<Handle> handle;  ///< if open; or an expired one that the opener has not ended yet
  std::size_t waits = 0;           ///< number of waiters for a connection
  Clock::time_point waiting_since;  ///< since when the first has waited
  std::size_t turn = 0;             ///< counts the phases: work from an earlier one is stale
  std::size_t asked = 0;            ///< how often somebody has started to wait for the opener
  std::size_t failures = 0;         ///< of the opener
  std::exception_ptr problem;       ///< its latest failure
  std::int64_t closed = 0;          ///< Client::closed_session
  bool wants_tick = false;          ///< the opener should ask the server for its tick
  bool wants_modes = false;         ///< the opener should ask the servers whether they take writes
  bool wants_zxid = false;          ///< the opener should ask the servers what they have
  bool wants_versions = false;      ///< the opener should ask each connected server for its version
  Bell opener;                      ///< rings when the opener has work; not under the monitor

  std::shared_ptr<Handle> open_handle() const { return phase == Phase::Open ? handle : nullptr; }
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
struct KnownServers {
  /// What any of the sessions waits for: answers and connections.
  struct Waits {
    std::size_t count = 0;
    Clock::time_point since{};  ///< since when there have been some, with hardly a pause
    Clock::time_point ended{};  ///< when the last of them ended

    void begin() {
      constexpr std::chrono::milliseconds pause{100};
      if (const auto now = Clock::now(); count++ == 0 && now > ended + pause) since = now;
    }
    void end() {
      --count;
      ended = Clock::now();
    }
  };
  Waits waits{};
  std::map<std::string, bool> newer{};  ///< 3.5 or later, by numeric address and port
  /// By HOST:PORT; 0 if the server does not report one.
  std::map<std::string, std::chrono::milliseconds> ticks{};
  /// When a session last began to ask for one: a thousand sessions need it only once.
  std::map<std::string, Clock::time_point> ticks_asked{};
  /// Those that said they take writes when last asked, by numeric address and port.
  std::set<std::string> writable{};
  /// What a new session learns from servers that do not let an old one resume, by connect string.
  struct Zxid {
    Clock::time_point asked{};   ///< when a session last began to ask for it
    Clock::time_point learnt{};  ///< when one let a session begin
    std::int64_t last = 0;       ///< its last zxid then; 0: it did not say
  };
  std::map<std::string, Zxid> zxids{};
  struct Version {
    ServerVersion version{};  ///< 0.0: it does not report one, or not the one it has
    /// When to ask again: the server may have been in trouble when it was asked.
    Clock::time_point ask_again = Clock::time_point::max();
    bool is_false = false;  ///< it has reported a version that it does not have
  };
  /// By numeric address and port.
  std::map<std::string, Version> versions{};

  /// Forgets what was learnt about a server. Call it when a connection to it is lost: it may come
  /// back as another.
  void forget(const std::string& address, const std::string& name) {
    newer.erase(address);
    ticks.erase(name);
    ticks_asked.erase(name);
    if (const auto known = versions.find(address);
        known != versions.end() && !known->second.is_false)
      versions.erase(known);
  }
  /// Has a server that gave no answer asked again. Call it when it has accepted a connection: it
  /// will answer soon.
  void ask_again(const std::string& address) {
    const auto known = versions.find(address);
    if (known != versions.end() && known->second.ask_again != Clock::time_point::max())
      versions.erase(known);
  }
  /// nullopt: it must be asked.
  std::optional<ServerVersion> version_of(const std::string& address) const {
    const auto known = versions.find(address);
    if (known == versions.end() || Clock::now() >= known->second.ask_again) return std::nullopt;
    return known->second.version;
  }
};

/// nullopt: not known.
template <class Value>
std::optional<Value> found_in(const std::map<std::string, Value>& known, const std::string& key) {
  const auto found = known.find(key);
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

/// A member of the open handle; a default value if none is open.
template <class T>
T Session::of_handle(const Monitor::Held& /*held*/, T Handle::*member) const {
  const auto open = state_->open_handle();
  return open ? (*open).*member : T{};
}

inline constexpr std::string_view config_node = "/zookeeper/config";

/// The path by which a client with this chroot knows a node; nullopt if it cannot reach the node.
std::optional<std::string> path_through(const std::string& chroot, std::string_view node);

/// The C client's state.
SessionState session_state(int state);

/// Whether the name of a server must be looked up.
bool has_names(const ConnectString& servers);

/// Where a handle, which may be null, is connected to; nullopt if it is not.
std::optional<SocketAddress> address_of_server(Session::Handle* handle);

inline void note_made(std::set<std::string>& ephemerals, const Created& made) {
  ephemerals.insert(made.path);
}
inline void note_made(std::set<std::string>& ephemerals, const std::vector<OpResult>& results) {
  for (const auto& result : results)
    if (!result.path.empty()) ephemerals.insert(result.path);
}
template <class T>
inline void note_made(std::set<std::string>& /*ephemerals*/, const T& /*other*/) {}

/// Records which ephemerals there may be after a request.
template <class T>
void note_ephemerals(Session::Handle& handle, const Call& call, int rc, const T& value) {
  if (rc == ZOK)
    for (const auto& path : call.removals) handle.ephemerals.erase(path);
  if (!call.makes_ephemerals) return;
  if (rc == ZOK)
    note_made(handle.ephemerals, value);
  else if (rc > ZAPIERROR)  // not the server's code: the request may have been done
    handle.ephemerals.insert("");
}

/// Settles the call that a completion got as its data. Once per call.
template <class T>
void conclude(const void* data, int rc, T value) {
  // The C client returns the pointer that it was given as const.
  const std::unique_ptr<CallOf<T>> call(static_cast<CallOf<T>*>(const_cast<void*>(data)));
  auto& handle = *call->handle;
  handle.session.monitor().change_of(call->pending.get(), [&](const Monitor::Held& held) {
    --handle.calls;
    handle.session.known_servers().waits.end();
    if (const auto& watching = call->watching) {
      const bool left = rc == ZOK || (watching->on_missing && rc == ZNONODE);
      handle.watchers.answered(watching->path, watching->kind, watching->who, left);
    }
    if (const auto& watch = call->persistent)
      handle.watchers.answered(watch->path, watch->mode, watch->mailbox, rc == ZOK);
    if (const auto& gone = call->unwatching; gone && rc == ZOK)
      handle.watchers.forgotten(gone->path, gone->kind, gone->who);
    note_ephemerals(handle, *call, rc, value);
    call->settle(held, rc, std::move(value));
  });
  if (call->persistent) handle.send_waiting(call->persistent->path);
}

/// Registers a call before its request is sent.
inline void enlist(const Monitor::Held& /*held*/, Session::Handle& handle, Call& call) {
  call.handle = &handle;
  ++handle.calls;
  handle.session.known_servers().waits.begin();
  if (const auto& watching = call.watching)
    handle.watchers.asked(watching->path, watching->kind, watching->who);
  if (const auto& watch = call.persistent)
    handle.watchers.asked(watch->path, watch->mode, watch->mailbox);
}

/// Why the C client sends nothing. It knows of a refused credential before it reports it.
inline int reason_unsent(zhandle_t* zh, int rc) {
  return rc == ZINVALIDSTATE && zoo_state(zh) == ZOO_AUTH_FAILED_STATE ? ZAUTHFAILED : rc;
}

/// Registers a call and sends its request with `send(zh, call)`. Without a handle, or if the C
/// client refuses, the answer is set at once.
template <class T, class Send>
Pending<T> start(Monitor& monitor, Session::Handle* handle, std::unique_ptr<CallOf<T>> call,
                 Send&& send) {
  auto pending = call->pending;
  const auto refuse = [&](int why) {
    monitor.change([&](const Monitor::Held& held) { call->settle_error(held, why); });
    return pending;
  };
  if (!handle) return refuse(code::invalid_state);
  const Wire::Hold hold(handle->wire);
  zhandle_t* const zh = hold.get();
  if (!zh) return refuse(code::closing);
  const bool is_refused = monitor.with_lock([&](const Monitor::Held& held) {
    if (handle->state == SessionState::AuthFailed) return true;
    enlist(held, *handle, *call);
    return false;
  });
  if (is_refused) return refuse(code::auth_failed);
  CallOf<T>* sent = call.release();  // owned by the answer now
  const int rc = send(zh, sent);
  if (rc != ZOK) conclude<T>(sent, reason_unsent(zh, rc), T{});
  return pending;
}

}  // namespace zksh
