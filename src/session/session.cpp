// Session: implements Client with the Apache C client's asynchronous calls.
#include "session/session.h"

#include "base/deferred_calls.h"
#include "base/digest.h"
#include "base/fd.h"
#include "base/monitor.h"
#include "base/process_setup.h"
#include "base/text.h"
#include "client/connect_string.h"
#include "client/diagnose_connection.h"
#include "client/four_letter_word.h"
#include "client/host_addresses.h"
#include "client/lease_renewal.h"
#include "client/node_path.h"
#include "client/tls.h"
#include "session/answer_notes.h"
#include "session/answer_reader.h"
#include "session/newer_requests.h"
#include "session/sasl.h"
#include "session/session_lease.h"
#include "session/trying_order.h"
#include "session/watcher_table.h"
#include "session/wire.h"
#include "session/wire_socket.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <netinet/in.h>
#include <new>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <system_error>
#include <type_traits>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace zksh {

/// An unanswered request. The C client completes it, at the latest when its handle is closed.
struct Call {
  /// The watch that a read sets.
  struct Watching {
    std::string path;
    WatchKind kind = WatchKind::OfData;
    WatcherTable::Who who = nullptr;
    bool on_missing = false;  ///< also on a missing node
  };

  Session::Handle* handle = nullptr;
  std::optional<Watching> watching{};
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

struct Session::Handle final : WireOwner, std::enable_shared_from_this<Handle> {
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
    if (persistent.empty()) return false;
    const auto node = own_path(path);
    return node && reports(*node, of_children ? WatchKind::OfChildren : WatchKind::OfData);
  }

  Session& session;
  const ConnectString servers;
  Wire wire;
  // Under the session's monitor:
  SessionState state = SessionState::Connecting;
  bool ever_connected = false;
  Clock::time_point opened;
  Clock::time_point lost;       ///< when the connection was lost, if ever
  std::string connected_to;     ///< the last server, HOST:PORT; empty before the first
  std::string address;          ///< of the server that it is connected to, or tries, numeric
  AddressNames names;           ///< of the servers
  Clock::time_point looked_up;  ///< when these were
  std::int64_t session_id = 0;
  int negotiated_timeout = 0;
  std::shared_ptr<SessionLease> lease;           ///< null until connected
  Clock::time_point lease_wanted{};              ///< when somebody first asked how long it lasts
  std::shared_ptr<AnswerNotes> notes;            ///< null until connected
  std::vector<Credential> credentials;           ///< added and accepted
  std::vector<Pending<Nothing>> authentication;  ///< what `authenticate` sent last
  bool other_credentials = false;                ///< others than the settings' were sent
  std::size_t calls = 0;                         ///< number of unanswered requests
  /// Those that the session may have; an empty path for any whose name is not known.
  std::set<std::string> ephemerals;
  BootClock::time_point beat;  ///< the last heartbeat
  struct TlsFailure {
    std::string reason;  ///< the latest
    int tries = 0;       ///< consecutive failures; more if another would fail too
  };
  std::map<std::string, TlsFailure> tls_failures;  ///< by the server's name, HOST:PORT
  std::string sasl_problem;   ///< of this machine's Kerberos, for the user; empty if it works
  std::string kerberos_user;  ///< the principal; empty without Kerberos
  // Of the opener's thread:
  std::shared_ptr<SaslExchange> sasl;
  std::uint64_t sasl_connection = 0;  ///< the one that it is for
  /// By the context of their watches, a number that the C client passes back, not a pointer: it
  /// silently drops unfired watches. All watches of a mailbox share it, so the C client fires one
  /// event for all that it has on a node, and needs linear, not quadratic, time to report a session
  /// event.
  std::unordered_map<void*, Mailbox> mailboxes;
  std::uintptr_t last_mailbox = 0;
  WatcherTable watchers{this};  ///< by the contexts of the C client's watchers
  struct PersistentWatch {
    Mailbox mailbox;
    WatchMode mode = WatchMode::Persistent;
  };
  /// With the wire's Hold: those that were sent on this connection, by path.
  std::multimap<std::string, PersistentWatch, std::less<>> persistent;
  Pending<Nothing> zxid_question;  ///< the last of ask_zxid; with the Hold

  /// The path of a node without the chroot; nullopt: it is not below it.
  std::optional<std::string> own_path(std::string_view whole) const;
  /// Has the server show its last zxid, which is that of any event before the answer, or a later
  /// one; with the Hold.
  void ask_zxid();
  /// Whether persistent watches report all that a one-shot watch on the node would; with the Hold.
  bool reports(std::string_view path, WatchKind kind) const;

  /// The names, HOST:PORT, that the user gave for a server with this numeric address and port.
  std::vector<std::string> names_of(const Monitor::Held& held, const std::string& server) const;
  /// The hosts of these names.
  std::vector<std::string> hosts_of(const std::string& server) const;
  /// Whether TLS has failed with all servers, for a permanent reason or several times.
  bool tls_failed_everywhere(const Monitor::Held& held) const;
  /// Why TLS last failed, by server, HOST:PORT.
  std::map<std::string, std::string> tls_reasons(const Monitor::Held& held) const;
  /// Call when a connection is made, before that is known: sends the settings' credentials that
  /// have not been accepted yet. False if the connection is lost again.
  bool authenticate();
  /// Whether there is a connection on which the settings' credentials are in force.
  bool is_ready(const Monitor::Held& held) const {
    return is_connected(state) && std::ranges::all_of(authentication, [&](const auto& sent) {
             // One that was refused is followed by the session's end.
             const auto& answer = (*sent)(held);
             return answer && answer->code == code::ok;
           });
  }
  /// The path that was watched, of an event as the C client reports it.
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
  /// The content of a large answer, given the Stat that the C client passes to a completion;
  /// nullopt if the answer was not large.
  std::optional<LargeAnswer> take_content(const ::Stat* stat);
  /// Records that the server does not have the version that it says it has.
  void has_no_version();
  /// Records that the server accepted a credential.
  void accepted(const Credential& credential);

  /// The handle's watcher, for session events and printed watches. The context is the Handle.
  static void on_event(zhandle_t* zh, int type, int state, const char* path, void* context);
  /// The watcher for private watches. The context is context_of the mailbox.
  static void on_private_watch(zhandle_t* zh, int type, int state, const char* path, void* context);

  /// The context of a mailbox's watches, assigned if it has none. Not under the monitor.
  void* context_of(const Mailbox& mailbox);
};

bool Session::Handle::reports(std::string_view path, WatchKind kind) const {
  const auto [first, last] = persistent.equal_range(path);
  return std::any_of(first, last, [&](const auto& watch) {
    return kind == WatchKind::OfData || watch.second.mode == WatchMode::Persistent;
  });
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

/// A step of a SASL exchange that the opener should take.
struct SaslJob {
  std::shared_ptr<Session::Handle> handle;
  std::string host;  ///< the server's name
  std::uint64_t connection = 0;
  std::optional<std::string> token{};  ///< the server's; none at the begin
  std::int32_t error = 0;              ///< the server's
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
  std::deque<SaslJob> sasl_jobs;    ///< for the opener
  bool wants_modes = false;         ///< the opener should ask the servers whether they take writes
  bool wants_versions = false;      ///< of all servers that the session is connected to
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
  std::map<std::string, bool> newer{};  ///< 3.5 or later, by numeric address and port
  /// By HOST:PORT; 0 if the server does not report one.
  std::map<std::string, std::chrono::milliseconds> ticks{};
  /// When somebody last undertook to ask for one: a thousand sessions need it only once.
  std::map<std::string, Clock::time_point> ticks_asked{};
  /// Those that said so when they were last asked, by numeric address and port.
  std::set<std::string> writable{};
  struct Version {
    int major = 0;  ///< 0: it does not say
    int minor = 0;
  };
  /// By numeric address and port, of those that were asked.
  std::map<std::string, Version> versions{};
  /// How often one has not answered that question: it may have been busy.
  std::map<std::string, int> silences{};
};

namespace {

/// How long servers may reject everybody after a connection was lost, while they elect a leader or
/// a server restarts.
constexpr std::chrono::seconds turmoil{2};

/// A server that starts or stops may break off a handshake or two.
constexpr int enough_tls_tries = 3;

constexpr std::string_view config_node = "/zookeeper/config";

/// The path that a client with this chroot calls a node; nullopt: it cannot reach it.
std::optional<std::string> path_through(const std::string& chroot, std::string_view node) {
  if (chroot.empty() || !node.starts_with(chroot)) return std::nullopt;
  const auto rest = node.substr(chroot.size());
  if (rest.empty()) return "/";
  return rest.front() == '/' ? std::optional(std::string(rest)) : std::nullopt;
}

Event::Type event_type(int type) {
  if (type == ZOO_CREATED_EVENT) return Event::Type::Created;
  if (type == ZOO_DELETED_EVENT) return Event::Type::Deleted;
  if (type == ZOO_CHANGED_EVENT) return Event::Type::DataChanged;
  if (type == ZOO_CHILD_EVENT) return Event::Type::ChildrenChanged;
  return Event::Type::Session;
}

SessionState session_state(int state) {
  if (state == ZOO_CONNECTED_STATE) return SessionState::Connected;
  if (state == ZOO_READONLY_STATE) return SessionState::ConnectedReadOnly;
  if (state == ZOO_EXPIRED_SESSION_STATE) return SessionState::Expired;
  if (state == ZOO_AUTH_FAILED_STATE) return SessionState::AuthFailed;
  return SessionState::Connecting;
}

/// The C client logs paths as servers send them; a terminal gets them escaped.
void escape_log() {
  static std::FILE* const log = [] {
    const auto write = [](void* /*cookie*/, const char* bytes, std::size_t size) {
      const auto text = escape_for_terminal({bytes, size}, true);
      return static_cast<ssize_t>(
          std::fwrite(text.data(), 1, text.size(), stderr) == text.size() ? size : 0);
    };
    return fopencookie(nullptr, "w",
                       {.read = nullptr, .write = write, .seek = nullptr, .close = nullptr});
  }();
  if (log) zoo_set_log_stream(log);
}

void note_made(std::set<std::string>& ephemerals, const Created& made) {
  ephemerals.insert(made.path);
}
void note_made(std::set<std::string>& ephemerals, const std::vector<OpResult>& results) {
  for (const auto& result : results)
    if (!result.path.empty()) ephemerals.insert(result.path);
}
template <class T>
void note_made(std::set<std::string>& /*ephemerals*/, const T& /*other*/) {}

/// Records which ephemerals there may be after a request.
template <class T>
void note_ephemerals(Session::Handle& handle, const Call& call, int rc, const T& value) {
  if (rc == ZOK)
    for (const auto& path : call.removals) handle.ephemerals.erase(path);
  if (!call.makes_ephemerals) return;
  if (rc == ZOK)
    note_made(handle.ephemerals, value);
  else if (rc > ZAPIERROR)  // not the server's: it may have been done
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
    if (const auto& watching = call->watching) {
      const bool left = rc == ZOK || (watching->on_missing && rc == ZNONODE);
      handle.watchers.answered(watching->path, watching->kind, watching->who, left);
    }
    if (const auto& gone = call->unwatching; gone && rc == ZOK)
      handle.watchers.forgotten(gone->path, gone->kind, gone->who);
    note_ephemerals(handle, *call, rc, value);
    call->settle(held, rc, std::move(value));
  });
}

/// Registers a call before its request is sent.
inline void enlist(const Monitor::Held& /*held*/, Session::Handle& handle, Call& call) {
  call.handle = &handle;
  ++handle.calls;
  if (const auto& watching = call.watching)
    handle.watchers.asked(watching->path, watching->kind, watching->who);
}

/// Why the C client sends nothing. It knows of a refused credential before it reports it.
int reason_unsent(zhandle_t* zh, int rc) {
  return rc == ZINVALIDSTATE && zoo_state(zh) == ZOO_AUTH_FAILED_STATE ? ZAUTHFAILED : rc;
}

/// Registers a call and sends its request with `send(zh, call)`. Without a handle, or if the C
/// client refuses, the answer is set at once.
template <class T, class Send>
Pending<T> start(Monitor& monitor, Session::Handle* handle, std::unique_ptr<CallOf<T>> call,
                 Send&& send) {
  auto pending = call->pending;
  if (!handle) {
    monitor.change(
        [&](const Monitor::Held& held) { call->settle_error(held, code::invalid_state); });
    return pending;
  }
  const Wire::Hold hold(handle->wire);
  zhandle_t* const zh = hold.get();
  if (!zh) {
    monitor.change([&](const Monitor::Held& held) { call->settle_error(held, code::closing); });
    return pending;
  }
  const bool is_refused = monitor.with_lock([&](const Monitor::Held& held) {
    if (handle->state == SessionState::AuthFailed) return true;
    enlist(held, *handle, *call);
    return false;
  });
  if (is_refused) {
    monitor.change([&](const Monitor::Held& held) { call->settle_error(held, code::auth_failed); });
    return pending;
  }
  CallOf<T>* sent = call.release();  // owned by the answer now
  const int rc = send(zh, sent);
  if (rc != ZOK) conclude<T>(sent, reason_unsent(zh, rc), T{});
  return pending;
}

/// nullopt: not known.
template <class Value>
std::optional<Value> found_in(const std::map<std::string, Value>& known, const std::string& key) {
  const auto found = known.find(key);
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

bool has_names(const ConnectString& servers) {
  return !std::ranges::all_of(servers.servers, is_address, &ServerAddress::host);
}

/// Where a handle, which may be null, is connected to; nullopt if it is not.
std::optional<SocketAddress> address_of_server(Session::Handle* handle) {
  SocketAddress address{.size = sizeof address.bytes};
  if (!handle) return std::nullopt;
  const Wire::Hold hold(handle->wire);
  if (!hold.get() || !zookeeper_get_connected_host(hold.get(), address.get(), &address.size))
    return std::nullopt;
  return address;
}

/// The name of that server for users: HOST:PORT as in the connect string, also for a read-only
/// server, which zookeeper_get_connected_host does not return. With the wire's Hold.
std::string connected_name(zhandle_t* zh, const AddressNames& names) {
  const std::string_view text = zoo_get_current_server(zh);  // "::1:2181" for an IPv6 address
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::string(text);
  const ServerAddress address{.host = std::string(text.substr(0, colon)),
                              .port = std::atoi(text.data() + colon + 1)};
  const auto name = names.find(address.text());
  return name == names.end() ? address.text() : name->second;
}

/// The read of /zookeeper/config, for which another call waits. That is a call until `go` has sent
/// it.
struct LearningCall : CallOf<Nothing> {
  std::string server{};  ///< its address; empty if not known
  std::unique_ptr<Call> waiting{};
  std::function<void(Call* waiting, bool newer)> go{};  ///< takes ownership

  void settle_error(const Monitor::Held& held, int rc) override {
    if (const auto failed = std::move(waiting)) failed->settle_error(held, rc);
    CallOf<Nothing>::settle_error(held, rc);
  }
};

void config_read(int rc, const char* /*bytes*/, int /*size*/, const ::Stat* /*stat*/,
                 const void* data) {
  auto& call = const_cast<LearningCall&>(
      static_cast<const LearningCall&>(*static_cast<const CallOf<Nothing>*>(data)));
  auto& session = call.handle->session;
  auto waiting = std::move(call.waiting);
  const bool answered = rc == ZOK || rc == ZNONODE || rc == ZNOAUTH;
  session.monitor().change([&](const Monitor::Held& held) {
    if (!answered)
      waiting->settle_error(held, rc);
    else if (!call.server.empty())
      session.known_servers().newer[call.server] = rc != ZNONODE;
  });
  // Before this call is settled: whoever closes the handle waits until no call is left.
  if (answered) call.go(waiting.release(), rc != ZNONODE);
  conclude<Nothing>(data, rc, {});
}

/// For start_newer: asks the server that `on` is connected to. `go` is called on the wires' thread
/// when the answer arrives.
void learn_of_server(Session& session, Session::Handle* on, std::unique_ptr<LearningCall> call) {
  auto& server = call->server;
  start(session.monitor(), on, std::unique_ptr<CallOf<Nothing>>(std::move(call)),
        [&](zhandle_t* zh, const void* data) {
          if (const auto address = address_of_server(on)) server = address->server().text();
          const int rc = zoo_awgetconfig(zh, nullptr, nullptr, config_read, data);
          if (rc == ZOK) return rc;
          config_read(rc, nullptr, 0, nullptr, data);
          return static_cast<int>(ZOK);
        });
}

/// Sends a request that servers before 3.5 do not support, or the older one to such a server. If
/// the server's version is not known yet, the call waits for a read that shows it; later calls do
/// not.
template <class T, class Newer, class Older>
Pending<T> start_newer(Session& session, std::unique_ptr<CallOf<T>> call, Newer newer,
                       Older older) {
  auto& monitor = session.monitor();
  const auto on = session.open_handle();
  const auto send = [&monitor, newer, older](Session::Handle* handle,
                                             std::unique_ptr<CallOf<T>> now, bool is_newer) {
    return is_newer ? start(monitor, handle, std::move(now), newer)
                    : start(monitor, handle, std::move(now), older);
  };
  if (const auto address = address_of_server(on.get())) {
    const auto known = monitor.with_lock([&](const Monitor::Held&) {
      return found_in(session.known_servers().newer, address->server().text());
    });
    if (known) return send(on.get(), std::move(call), *known);
  }
  auto pending = call->pending;
  auto learning = std::make_unique<LearningCall>();
  learning->waiting = std::move(call);
  // Runs when the handle completes a call, and so before it is gone.
  learning->go = [send, handle = on.get()](Call* waiting, bool is_newer) {
    send(handle, std::unique_ptr<CallOf<T>>(static_cast<CallOf<T>*>(waiting)), is_newer);
  };
  learn_of_server(session, on.get(), std::move(learning));
  return pending;
}

/// For a request without an older one: an older server would end the connection at it.
int send_nothing(zhandle_t* /*zh*/, const void* /*data*/) { return ZUNIMPLEMENTED; }

/// Sends a request with `send(zh, data)`.
template <class T, class Send>
Pending<T> request(Session& session, Send&& send) {
  return start(session.monitor(), session.open_handle().get(), std::make_unique<CallOf<T>>(), send);
}

}  // namespace

std::shared_ptr<Session::Handle> Session::open_handle() {
  return monitor_.with_lock([&](const Monitor::Held&) { return state_->open_handle(); });
}

void Session::Handle::report(const Monitor::Held& held, const Event& event) {
  // Otherwise the handle is not in use yet, or has been replaced.
  if (session.state_->open_handle().get() == this) session.sink_(held, event);
}

void Session::Handle::note_state(const Monitor::Held& held, SessionState now, zhandle_t* from) {
  if (now == state) return;
  if (is_connected(state)) {
    if (now == SessionState::Connecting) persistent.clear();
    lost = Clock::now();
    session.state_->opener.ring();  // for next_look_up
  }
  state = now;
  if (is_connected(now)) {
    ever_connected = true;
    connected_to = connected_name(from, names);
    session_id = zoo_client_id(from)->client_id;
    negotiated_timeout = zoo_recv_timeout(from);
    lease = of_session<SessionLease>(session_id);
    notes = of_session<AnswerNotes>(session_id);
  }
  report(held, {.path = {}, .state = now, .zxid = wire.last_zxid()});
}

std::optional<std::string> Session::Handle::own_path(std::string_view whole) const {
  return servers.chroot.empty() ? std::string(whole) : path_through(servers.chroot, whole);
}

void Session::Handle::event_came(const WireEvent& event) {
  const auto type = event_type(event.type);
  if (persistent.empty() || type == Event::Type::Session) return;
  const auto path = own_path(event.path);
  if (!path || !path->starts_with('/')) return;
  std::vector<Mailbox> receivers;
  for (std::string_view at = *path;; at = parent_path(at)) {
    const auto [first, last] = persistent.equal_range(at);
    for (auto watch = first; watch != last; ++watch) {
      const auto& [mailbox, mode] = watch->second;
      const bool is_its = mode == WatchMode::Recursive ? type != Event::Type::ChildrenChanged
                                                       : at.size() == path->size();
      if (is_its && std::ranges::count(receivers, mailbox) == 0) receivers.push_back(mailbox);
    }
    if (at == "/") break;
  }
  for (const auto& mailbox : receivers)
    session.monitor_.change_of(mailbox.get(), [&](const Monitor::Held& held) {
      (*mailbox)(held).push_back(
          {.type = type, .path = *path, .persistent = true, .zxid = event.zxid});
    });
  // Up to 3.8, events have none. What was reported would be found again after a lost connection.
  if (event.zxid <= 0 && !receivers.empty()) ask_zxid();
}

std::int64_t Session::Handle::czxid_of(const std::string& path) {
  const auto from = session.monitor().with_lock([&](const Monitor::Held&) { return notes; });
  return from ? from->take_creation(path) : 0;
}

std::optional<LargeAnswer> Session::Handle::take_content(const ::Stat* stat) {
  if (!stat || stat->dataLength != LargeAnswer::moved) return std::nullopt;
  const auto from = session.monitor().with_lock([&](const Monitor::Held&) { return notes; });
  return from ? from->take_answer(stat->mzxid) : std::nullopt;
}

/// The C client refuses a credential while it is between two attempts to connect (ZINVALIDSTATE),
/// and reports those that it keeps for the next attempt as lost when this one fails. It sends those
/// that it has again on every connection; doing that twice does no harm.
bool Session::Handle::authenticate() {
  std::vector<Credential> missing;
  std::vector<Pending<Nothing>> all;
  session.monitor_.with_lock([&](const Monitor::Held&) {
    for (const auto& credential : session.settings_.credentials)
      if (std::ranges::count(credentials, credential) == 0) missing.push_back(credential);
  });
  for (const auto& credential : missing) {
    const auto sent = session.add_auth_to(this, credential);
    const bool refused = session.monitor_.with_lock([&](const Monitor::Held& held) {
      const auto& answer = (*sent)(held);
      return answer && answer->code == code::invalid_state;
    });
    if (refused) return false;
    all.push_back(sent);
  }
  session.monitor_.with_lock([&](const Monitor::Held&) { authentication = std::move(all); });
  return true;
}

/// The C client cuts the chroot's letters off, also from the configuration's path, of which they
/// may be only the first letters: through /zoo, that becomes "keeper/config".
std::string Session::Handle::watched_path(const char* reported) const {
  std::string path = reported ? reported : "";
  if (!path.empty() && path.front() != '/' && servers.chroot + path == config_node)
    path = config_node;
  return path;
}

void Session::Handle::on_event(zhandle_t* zh, int type, int state, const char* path,
                               void* context) {
  auto& handle = *static_cast<Handle*>(context);
  auto& session = handle.session;
  // The connection becomes known after its credentials have been sent, and so before any request.
  if (type == ZOO_SESSION_EVENT && is_connected(session_state(state)) && !handle.authenticate())
    return;
  session.monitor_.change([&](const Monitor::Held& held) {
    if (type == ZOO_SESSION_EVENT) return handle.note_state(held, session_state(state), zh);
    const Event event{.type = event_type(type),
                      .path = handle.watched_path(path),
                      .state = handle.state,
                      .printed = true};
    handle.watches_fired(held, type, event.path);
    if (event.type != Event::Type::Session) handle.report(held, event);
  });
}

void Session::Handle::on_private_watch(zhandle_t* zh, int type, int /*state*/, const char* path,
                                       void* context) {
  if (type == ZOO_SESSION_EVENT) return;  // waiters for watches check the session's state too
  auto& handle = *static_cast<Handle*>(const_cast<void*>(zoo_get_context(zh)));
  auto& monitor = handle.session.monitor_;
  const auto watched = handle.watched_path(path);
  const auto mailbox = monitor.with_lock([&](const Monitor::Held& held) -> Mailbox {
    handle.watches_fired(held, type, watched);
    const auto found = handle.mailboxes.find(context);
    return found == handle.mailboxes.end() ? nullptr : found->second;
  });
  if (!mailbox) return;
  monitor.change_of(mailbox.get(), [&](const Monitor::Held& held) {
    (*mailbox)(held).push_back({.type = event_type(type), .path = watched});
  });
}

void* Session::Handle::context_of(const Mailbox& mailbox) {
  return session.monitor_.with_lock([&](const Monitor::Held&) {
    // There are few at a time; removes those that nobody else uses.
    void* context = nullptr;
    std::erase_if(mailboxes, [&](const auto& entry) {
      if (entry.second == mailbox) context = entry.first;
      return entry.second.use_count() == 1;
    });
    if (context) return context;
    context = reinterpret_cast<void*>(++last_mailbox);  // NOLINT(performance-no-int-to-ptr)
    mailboxes.emplace(context, mailbox);
    return context;
  });
}

std::string client_library_version() { return ZOO_VERSION; }

void prepare_security(const Security& security) {
  if (security.tls.on) use_tls(security.tls);
  if (!security.sasl.mechanism.empty()) prepare_sasl(security.sasl);
}

Session::Session(Monitor& monitor, SessionSettings settings, std::string server, EventSink sink)
    : monitor_(monitor),
      settings_(std::move(settings)),
      sink_(std::move(sink)),
      state_(std::make_unique<State>()) {
  if (!settings_.known_servers) settings_.known_servers = std::make_shared<KnownServers>();
  state_->server = std::move(server);
  zoo_set_debug_level(static_cast<ZooLogLevel>(settings_.log_level));
  if (settings_.log_level > 0 && isatty(STDERR_FILENO) == 1) escape_log();
}

Session::~Session() { close(); }

namespace {

/// Whether a session is over.
bool is_dead(SessionState state) {
  return state == SessionState::Expired || state == SessionState::AuthFailed;
}

}  // namespace

/// Changes the phase; nothing else does. Returns the handle that was in use, to be ended after the
/// monitor is released.
std::shared_ptr<Session::Handle> Session::enter(const Monitor::Held& held, Phase phase,
                                                std::shared_ptr<Handle> fresh) {
  auto& known = *state_;
  ++known.turn;
  known.phase = phase;
  auto old = std::exchange(known.handle, std::move(fresh));
  if (old && !is_dead(old->state)) known.closed = old->session_id;
  if (phase == Phase::Refused)
    sink_(held, {.path = {}, .state = SessionState::AuthFailed});
  else if (old)
    sink_(held, {.path = {}, .state = SessionState::Closed});
  // Report what happened before it was in use.
  if (known.handle && known.handle->state != SessionState::Connecting)
    sink_(held, {.path = {}, .state = known.handle->state});
  return old;
}

/// Waits briefly for the answers to a handle that is out of use.
void Session::await_answers(const Handle& old) {
  constexpr std::chrono::milliseconds longest{100};
  monitor_.wait_until({}, Clock::now() + longest, [&](const Monitor::Held&) {
    return old.calls == 0 || !is_connected(old.state);
  });
}

/// Closes a handle that is out of use.
void Session::end(const std::shared_ptr<Handle>& old) {
  if (!old) return;
  await_answers(*old);
  old->wire.close();
}

std::unique_ptr<Client> Session::another() {
  return std::make_unique<Session>(monitor_, settings_, server(),
                                   [](const Monitor::Held& /*held*/, const Event& /*event*/) {});
}

void Session::close() {
  end(monitor_.change([&](const Monitor::Held& held) { return enter(held, Phase::Closed); }));
  if (const auto begun = std::exchange(closing_, nullptr)) begun->wire.close();
}

void Session::begin_close() {
  closing_ = monitor_.change([&](const Monitor::Held& held) { return enter(held, Phase::Closed); });
  if (closing_) closing_->wire.begin_close();
}

void Session::leave() {
  if (auto old =
          monitor_.change([&](const Monitor::Held& held) { return enter(held, Phase::Closed); })) {
    await_answers(*old);
    closing_ = std::move(old);
  }
  const auto left = std::exchange(closing_, nullptr);
  if (!left) return;
  const bool is_missed = monitor_.with_lock(
      [&](const Monitor::Held&) { return left->calls > 0 || !left->ephemerals.empty(); });
  if (is_missed)
    left->wire.close();
  else
    left->wire.leave();
}

std::string Session::server() {
  return monitor_.with_lock([&](const Monitor::Held&) { return state_->server; });
}

SessionState Session::state(const Monitor::Held& /*held*/) {
  if (const auto open = state_->open_handle()) return open->state;
  if (state_->phase == Phase::Closed) return SessionState::Closed;
  return state_->phase == Phase::Refused ? SessionState::AuthFailed : SessionState::Connecting;
}

bool Session::between_sessions(const Monitor::Held& /*held*/) { return !state_->open_handle(); }

/// A member of the open handle; a default value if none is open.
template <class T>
T Session::of_handle(const Monitor::Held& /*held*/, T Handle::*member) const {
  const auto open = state_->open_handle();
  return open ? (*open).*member : T{};
}

std::string Session::connected_server(const Monitor::Held& held) {
  return of_handle(held, &Handle::connected_to);
}

std::int64_t Session::session_id(const Monitor::Held& held) {
  return of_handle(held, &Handle::session_id);
}

std::int64_t Session::closed_session(const Monitor::Held& /*held*/) { return state_->closed; }

int Session::negotiated_timeout() {
  return monitor_.with_lock(
      [&](const Monitor::Held& held) { return of_handle(held, &Handle::negotiated_timeout); });
}

std::optional<std::chrono::nanoseconds> Session::round_trip() {
  const auto on = open_handle();
  const auto shortest = on ? on->wire.round_trip() : std::chrono::nanoseconds(0);
  return shortest.count() > 0 ? std::optional(shortest) : std::nullopt;
}

/// Once somebody has asked for the lease for a while, asks the server for its tick, which makes the
/// lease longer. A lock that is held only for a moment is not worth that request.
std::shared_ptr<SessionLease> Session::present_lease() {
  std::shared_ptr<SessionLease> lease;
  std::optional<std::chrono::milliseconds> tick;
  const bool asks = monitor_.with_lock([&](const Monitor::Held&) {
    const auto open = state_->open_handle();
    if (!open || !open->lease) return false;
    lease = open->lease;
    tick = found_in(known_servers().ticks, open->connected_to);
    if (tick) return false;
    constexpr std::chrono::seconds longest{10};
    const auto now = Clock::now();
    if (open->lease_wanted == Clock::time_point{}) open->lease_wanted = now;
    auto& asked = known_servers().ticks_asked[open->connected_to];
    if (now < open->lease_wanted + std::chrono::milliseconds(open->negotiated_timeout) / 8 ||
        (asked != Clock::time_point{} && now < asked + longest))
      return false;
    asked = now;
    return true;
  });
  if (asks) {
    monitor_.with_lock([&](const Monitor::Held&) { state_->wants_tick = true; });
    start_opener();
    state_->opener.ring();
  }
  if (lease && tick && tick->count() > 0) lease->learn_tick(*tick);
  return lease;
}

Lease Session::lease() {
  const auto lease = present_lease();
  if (!lease) return {};
  return {.end = lease->end(),
          .timeout = std::chrono::duration_cast<std::chrono::milliseconds>(lease->timeout())};
}

bool Session::lease_lasts(BootClock::duration reserve) {
  const auto lease = present_lease();
  return lease && lease->lasts(BootClock::now(), reserve);
}

std::string Session::connection_problem() {
  const auto text = server();
  if (text.empty()) return "";
  const auto file = monitor_.with_lock([&](const Monitor::Held& held) {
    const auto open = state_->open_handle();
    const bool none_accepted = open && open->ever_connected && open->credentials.empty();
    return none_accepted && !sent_others(held) ? settings_.credentials_file : "";
  });
  // A server reports that it refuses a credential and closes the connection; requests on their way
  // to it by then destroy that answer.
  const auto hint = fmt::format(
      "; every connection was closed before the auth file {} was accepted; check that the servers "
      "know its schemes",
      file);
  return problem_with(open_handle().get(), parse_connect_string(text), file.empty() ? "" : hint);
}

/// Why there is no connection to `servers`; `on`, which may be null, is the handle that tried.
std::string Session::problem_with(const Handle* on, const ConnectString& servers,
                                  const std::string& hint) {
  const auto failures = monitor_.with_lock([&](const Monitor::Held& held) {
    auto all = on ? on->tls_reasons(held) : std::map<std::string, std::string>();
    if (on && !on->sasl_problem.empty())
      for (const auto& server : servers.servers) all.emplace(server.text(), on->sasl_problem);
    return all;
  });
  const auto refused = refused_answer();
  return diagnose_connection(servers, failures) + hint + (refused.empty() ? "" : "; " + refused);
}

/// Blocks until there is a handle, in any state.
void Session::await_handle(const std::string& path, Clock::time_point give_up,
                           const std::stop_token& stop) {
  ensure_session();
  const auto failures = monitor_.change([&](const Monitor::Held&) {
    ++state_->asked;  // ends the opener's pause
    return state_->failures;
  });
  // A name that does not resolve may do so soon, as in a new container.
  std::exception_ptr problem;
  const bool settled = monitor_.wait_until(stop, give_up, [&](const Monitor::Held&) {
    if (state_->failures != failures) problem = state_->problem;
    return state_->phase != Phase::Opening || (problem && settings_.one_round);
  });
  if (stop.stop_requested()) throw Cancelled();
  if (problem && (!settled || settings_.one_round)) std::rethrow_exception(problem);
  if (!settled) throw ZkError(code::connection_loss, path);
}

/// Counts a waiter for a connection while it lives.
class Session::Wait {
 public:
  explicit Wait(Session& session) : session_(session) {
    session_.monitor_.with_lock([&](const Monitor::Held&) {
      if (session_.state_->waits++ == 0) session_.state_->waiting_since = Clock::now();
    });
    if (session_.wait_begins_) session_.wait_begins_();
  }
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;
  ~Wait() {
    session_.monitor_.with_lock([&](const Monitor::Held&) { --session_.state_->waits; });
  }

 private:
  Session& session_;
};

std::optional<Clock::time_point> Session::awaited_since() {
  return monitor_.with_lock([&](const Monitor::Held& held) -> std::optional<Clock::time_point> {
    if (state_->waits == 0 || state(held) != SessionState::Connecting) return std::nullopt;
    if (!connected_server(held).empty()) return std::nullopt;
    return state_->waiting_since;
  });
}

void Session::await_connection(const std::string& path, const std::stop_token& stop) {
  const auto is_ready = [&](const Monitor::Held& held) {
    const auto open = state_->open_handle();
    return open && open->is_ready(held);
  };
  if (monitor_.with_lock(is_ready)) return;
  const Wait wait(*this);
  std::size_t refused = 0;
  const auto give_up = Clock::now() + settings_.connect_timeout;
  while (true) {
    await_handle(path, give_up, stop);
    SessionState now{};
    bool patient = false;
    Clock::time_point deadline;
    ConnectString servers;
    const auto turn = monitor_.with_lock([&](const Monitor::Held& held) {
      now = state(held);
      if (const auto open = state_->open_handle()) {
        servers = open->servers;
        const auto calm = open->ever_connected  ? open->lost + turmoil
                          : settings_.one_round ? open->opened
                                                : open->opened + settings_.connect_timeout;
        patient = Clock::now() < calm;
        deadline = patient ? std::min(calm, give_up) : give_up;
      }
      return state_->turn;
    });
    if (monitor_.with_lock(is_ready)) return;
    if (now == SessionState::Closed || now == SessionState::AuthFailed)
      throw ZkError(code::invalid_state, path);
    if (Clock::now() >= give_up) throw ZkError(code::connection_loss, path);
    if (is_connected(now))  // the servers have not answered its credentials yet
      monitor_.wait_until(stop, give_up, [&](const Monitor::Held& held) {
        return state_->turn != turn || state(held) != now || is_ready(held);
      });
    if (stop.stop_requested()) throw Cancelled();
    if (is_connected(now) || now == SessionState::Expired || servers.servers.empty()) continue;
    // Waits for a new session, or for an ensemble that has just lost a member. Afterwards there is
    // one round over the servers: the C client fails queued requests at each failed attempt, which
    // a read serves to detect.
    const auto probe = patient ? nullptr : start_exists("/", Watch::none());
    bool refused_all = false;  // for TLS: a bad certificate stays bad
    monitor_.wait_until(stop, deadline, [&](const Monitor::Held& held) {
      const auto open = state_->open_handle();
      refused_all = open && open->tls_failed_everywhere(held);
      return state_->turn != turn || state(held) != SessionState::Connecting || refused_all ||
             (probe && (*probe)(held));
    });
    if (stop.stop_requested()) throw Cancelled();
    const bool still = monitor_.with_lock([&](const Monitor::Held& held) {
      return state_->turn == turn && state(held) == SessionState::Connecting;
    });
    if (still && refused_all) throw ZkError(code::connection_loss, path);
    if (probe && ++refused >= servers.servers.size() && still)
      throw ZkError(code::connection_loss, path);
  }
}

/// Creates a handle. Blocks while names resolve.
std::shared_ptr<Session::Handle> Session::make_handle(const std::string& server) {
  auto fresh = std::make_shared<Handle>(*this, parse_connect_string(server));
  const auto& servers = fresh->servers;
  auto order = trying_order(servers);
  if (order.names.empty())
    throw Error("cannot connect to " + diagnose_connection(servers), status::no_connection);
  fresh->names = std::move(order.names);
  fresh->opened = fresh->looked_up = Clock::now();
  if (fresh->wants_sasl()) start_opener();
  const bool begun = fresh->wire.begin([&] {
    // Several servers have been shuffled already; the addresses of a single name have not.
    zoo_deterministic_conn_order(servers.servers.size() > 1 ? 1 : 0);
    auto* const zh = zookeeper_init(
        order.hosts.c_str(), Handle::on_event, settings_.session_timeout_ms, nullptr, fresh.get(),
        ZOO_NO_LOG_CLIENTENV | (settings_.read_only ? ZOO_READONLY : 0));
    // Otherwise the C client parses the addresses in every turn of its loop.
    if (zh) zoo_set_servers_resolution_delay(zh, -1);
    return zh;
  });
  if (!begun)
    throw Error(fmt::format("cannot connect to {}: {}", server, std::strerror(errno)),
                status::no_connection);
  return fresh;
}

void Session::open(const std::string& server) {
  parse_connect_string(server);
  end(monitor_.change([&](const Monitor::Held& held) {
    state_->server = server;
    return enter(held, Phase::Idle);
  }));
  ensure_session();
}

void Session::ensure_session() {
  const auto wanted = [&](const Monitor::Held&) { return state_->needs_opener(); };
  if (!monitor_.with_lock(wanted)) return;
  const bool blocks = has_names(parse_connect_string(server()));
  if (blocks || !settings_.security.sasl.mechanism.empty()) start_opener();
  std::optional<std::size_t> turn;
  bool is_at_once = false;
  monitor_.change([&](const Monitor::Held& held) {
    if (!wanted(held)) return;
    // The opener ends it, since this may be the wires' thread.
    auto expired = std::move(state_->handle);
    is_at_once = !blocks && !expired;
    enter(held, Phase::Opening);
    state_->handle = std::move(expired);
    turn = state_->turn;
  });
  if (!turn || (is_at_once && open_at_once(*turn))) return;
  start_opener();
  state_->opener.ring();
}

void Session::open_early() {
  const bool asks_others =
      has_names(parse_connect_string(server())) || !settings_.security.sasl.mechanism.empty();
  if (!asks_others) ensure_session();
}

/// Opens a session on this thread, which is faster, since no name must be looked up. False if that
/// failed; the opener then tries again.
bool Session::open_at_once(std::size_t turn) {
  std::shared_ptr<Handle> fresh;
  try {
    fresh = make_handle(server());
  } catch (const std::exception&) {
    return false;
  }
  monitor_.change([&](const Monitor::Held& held) {
    if (state_->turn == turn) enter(held, Phase::Open, std::exchange(fresh, nullptr));
  });
  end(fresh);  // the phase has changed meanwhile
  return true;
}

void Session::start_opener() {
  const std::lock_guard lock(starting_);
  if (opener_.joinable()) return;
  try {
    opener_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
  } catch (const std::system_error& error) {
    throw Error(fmt::format("cannot open a session: cannot start a thread ({})",
                            std::strerror(error.code().value())));
  }
}

/// Tries to open a session until it succeeds, is no longer needed, or the next attempt is for
/// another server.
void Session::open_one(const std::stop_token& stop) {
  constexpr std::chrono::seconds between_attempts{1};
  std::shared_ptr<Handle> expired;
  std::size_t turn = 0;
  std::string server;
  const bool wanted = monitor_.change([&](const Monitor::Held& held) {
    if (state_->phase != Phase::Opening) return false;
    turn = state_->turn;
    server = state_->server;
    expired = std::move(state_->handle);
    if (expired) sink_(held, {.path = {}, .state = SessionState::Closed});
    return true;
  });
  if (!wanted) return;
  end(expired);
  while (!stop.stop_requested()) {
    std::shared_ptr<Handle> fresh;
    std::exception_ptr problem;
    try {
      fresh = make_handle(server);
    } catch (...) {  // rethrown by whoever waits for the session
      problem = std::current_exception();
    }
    std::size_t asked = 0;
    const bool over = monitor_.change([&](const Monitor::Held& held) {
      if (state_->turn != turn) return true;
      asked = state_->asked;
      if (fresh) {
        enter(held, Phase::Open, std::exchange(fresh, nullptr));
        return true;
      }
      ++state_->failures;
      state_->problem = problem;
      return false;
    });
    end(fresh);  // the phase has changed meanwhile
    if (over) return;
    monitor_.wait_until(stop, Clock::now() + between_attempts, [&](const Monitor::Held&) {
      return state_->turn != turn || state_->asked != asked;
    });
    if (monitor_.with_lock([&](const Monitor::Held&) { return state_->turn != turn; })) return;
  }
}

void Session::replace_session(const std::string& server, const std::function<void()>& before_end,
                              const std::stop_token& stop) {
  auto fresh = make_handle(server);
  bool hopeless = false;
  monitor_.wait_until(stop, Clock::now() + settings_.connect_timeout,
                      [&](const Monitor::Held& held) {
                        hopeless = fresh->tls_failed_everywhere(held);
                        // Credentials are its only requests.
                        const bool ready = is_connected(fresh->state) && fresh->calls == 0;
                        return ready || hopeless || is_dead(fresh->state);
                      });
  if (stop.stop_requested()) throw Cancelled();
  const auto state = monitor_.with_lock([&](const Monitor::Held&) { return fresh->state; });
  if (!is_connected(state)) refuse(*fresh);
  before_end();
  // In two steps, so that waiters for the end of the old session notice it.
  auto old = monitor_.change([&](const Monitor::Held& held) { return enter(held, Phase::Closed); });
  auto other = monitor_.change([&](const Monitor::Held& held) {
    state_->server = server;
    return enter(held, Phase::Open, std::exchange(fresh, nullptr));
  });
  end(old);
  end(other);
}

/// Throws the reason why a session could not be opened.
void Session::refuse(const Handle& fresh) {
  SessionState state{};
  std::string end;
  std::string sasl_problem;
  monitor_.with_lock([&](const Monitor::Held&) {
    state = fresh.state;
    sasl_problem = fresh.sasl_problem;
    if (state_->phase == Phase::Open) end = "; the current session stays open";
  });
  if (state == SessionState::AuthFailed) {
    const auto why = why_settings_refused(sasl_problem);
    throw Error("authentication failed" + (why.empty() ? "" : ": " + why) + end,
                status::not_authorised);
  }
  throw Error("no connection to " + problem_with(&fresh, fresh.servers) + end,
              status::no_connection);
}

namespace {

/// As Java's InetAddress.getHostAddress: an IPv6 address in full, without "::".
std::string java_host(const SocketAddress& address) {
  if (address.family() == AF_INET) return address.server().host;
  sockaddr_in6 v6{};
  std::memcpy(&v6, &address.bytes, sizeof v6);
  const auto* const bytes = v6.sin6_addr.s6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr))
    return fmt::format("{}.{}.{}.{}", bytes[12], bytes[13], bytes[14], bytes[15]);
  std::string host;
  for (std::size_t i = 0; i < 16; i += 2)
    host += fmt::format("{}{:x}", i == 0 ? "" : ":", bytes[i] << 8 | bytes[i + 1]);
  return host;
}

/// The local address of packets to a server, unless it is translated on the way. The C client does
/// not expose its socket, but a socket connected to the same destination gets the same address;
/// connecting a datagram socket sends nothing.
std::string own_address(Session::Handle* handle) {
  const auto server = address_of_server(handle);
  if (!server) return {};
  const Fd fd(socket(server->family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  SocketAddress own{.size = sizeof own.bytes};
  if (!fd || connect(fd.get(), server->get(), server->size) != 0 ||
      getsockname(fd.get(), own.get(), &own.size) != 0)
    return {};
  return java_host(own);
}

/// How long the tick of a server is, in answer to `conf`; 0: it does not say. `hosts`: what the
/// user calls it. Blocks for a second at most. Throws Cancelled.
std::chrono::milliseconds tick_of(const ServerAddress& server, std::vector<std::string> hosts,
                                  const std::stop_token& stop) {
  constexpr std::chrono::seconds patience{1};
  constexpr std::size_t longest_answer = 65536;
  const auto answers =
      inquire({{.server = server, .word = "conf", .names = std::move(hosts)}},
              {.deadline = Clock::now() + patience, .most_bytes = longest_answer, .stop = stop});
  const auto text = answer_field(answers.front().text, "tickTime");
  int tick = 0;
  std::from_chars(text.data(), text.data() + text.size(), tick);
  return std::chrono::milliseconds(std::max(tick, 0));
}

/// The version that a server, a numeric address, says it has; nullopt: it does not answer. `hosts`:
/// what the user calls it. Blocks for a second at most. Throws Cancelled.
std::optional<KnownServers::Version> version_of(const std::string& address,
                                                std::vector<std::string> hosts,
                                                const std::stop_token& stop) {
  constexpr std::chrono::seconds patience{1};
  constexpr std::size_t longest_answer = 65536;
  const auto answers =
      inquire({{.server = parse_connect_string(address).servers.front(),
                .word = "srvr",
                .names = std::move(hosts)}},
              {.deadline = Clock::now() + patience, .most_bytes = longest_answer, .stop = stop});
  if (answers.front().text.empty()) return std::nullopt;
  const auto text = answer_field(answers.front().text, "Zookeeper version");
  KnownServers::Version version;
  const auto* const end = text.data() + text.size();
  const auto [dot, error] = std::from_chars(text.data(), end, version.major);
  if (error != std::errc() || dot == end || *dot != '.' ||
      std::from_chars(dot + 1, end, version.minor).ec != std::errc())
    return KnownServers::Version{};
  return version;
}

}  // namespace

bool Session::Handle::takes_writes(const SocketAddress& server) {
  const bool is_known = session.monitor_.with_lock([&](const Monitor::Held&) {
    session.state_->wants_modes = true;
    return session.known_servers().writable.contains(server.server().text());
  });
  try {
    session.start_opener();
  } catch (const std::exception&) {
    return false;  // it stays at this server
  }
  session.state_->opener.ring();
  return is_known;
}

std::vector<std::string> Session::Handle::names_of(const Monitor::Held& /*held*/,
                                                   const std::string& server) const {
  std::vector<std::string> found;
  const auto [first, last] = names.equal_range(server);
  for (auto at = first; at != last; ++at) found.push_back(at->second);
  return found;
}

std::vector<std::string> Session::Handle::hosts_of(const std::string& server) const {
  std::vector<std::string> hosts;
  for (const auto& name : session.monitor_.with_lock(
           [&](const Monitor::Held& held) { return names_of(held, server); }))
    hosts.push_back(parse_connect_string(name).servers.front().host);
  return hosts;
}

std::unique_ptr<TlsConnection> Session::Handle::secure(const SocketAddress& server,
                                                       std::uint64_t connection) {
  const auto numeric = server.server().text();
  const bool is_unknown = session.monitor_.with_lock([&](const Monitor::Held& held) {
    address = numeric;
    return session.wants_version_of(held, numeric);
  });
  if (is_unknown) session.state_->opener.ring();
  if (!session.settings_.security.tls.on) return nullptr;
  auto made = std::make_unique<TlsConnection>(*tls(), hosts_of(numeric), numeric);
  const auto start = [handle = weak_from_this(), connection] {
    if (const auto on = handle.lock()) on->wire.start_tls(connection);
  };
  if (tls()->is_fresh() || !tls()->refresh(start)) made->start();
  return made;
}

void Session::Handle::tls_ended(const SocketAddress& server, const TlsConnection& connection) {
  session.monitor_.change([&](const Monitor::Held& held) {
    for (const auto& name : names_of(held, server.server().text())) {
      if (connection.failure().empty()) {
        tls_failures.erase(name);
        continue;
      }
      auto& known = tls_failures[name];
      known.reason = connection.failure();
      known.tries += connection.is_lasting() ? enough_tls_tries : 1;
    }
  });
}

bool Session::Handle::tls_failed_everywhere(const Monitor::Held& /*held*/) const {
  return !tls_failures.empty() &&
         std::ranges::all_of(servers.servers, [&](const ServerAddress& server) {
           const auto failure = tls_failures.find(server.text());
           return failure != tls_failures.end() && failure->second.tries >= enough_tls_tries;
         });
}

std::map<std::string, std::string> Session::Handle::tls_reasons(
    const Monitor::Held& /*held*/) const {
  std::map<std::string, std::string> reasons;
  for (const auto& [name, failure] : tls_failures) reasons.emplace(name, failure.reason);
  return reasons;
}

void Session::Handle::continue_sasl(const SocketAddress& server, std::uint64_t connection,
                                    const std::string* token, std::int32_t error) {
  session.monitor_.with_lock([&](const Monitor::Held& held) {
    const auto known = names_of(held, server.server().text());
    const auto host = known.empty() ? servers.servers.front().host
                                    : parse_connect_string(known.front()).servers.front().host;
    session.state_->sasl_jobs.push_back({.handle = shared_from_this(),
                                         .host = host,
                                         .connection = connection,
                                         .token = token ? std::optional(*token) : std::nullopt,
                                         .error = error});
  });
  session.state_->opener.ring();
}

namespace {

/// Which of these servers, with numeric addresses, take writes. Blocks for a second at most. Throws
/// Cancelled.
std::set<std::string> find_writable(const AddressNames& servers, const std::stop_token& stop) {
  constexpr std::chrono::seconds patience{1};
  constexpr std::size_t longest_answer = 64;
  std::vector<ServerQuestion> questions;
  for (auto at = servers.begin(); at != servers.end();) {
    ServerQuestion question{.server = parse_connect_string(at->first).servers.front(),
                            .word = "isro"};
    for (const auto end = servers.upper_bound(at->first); at != end; ++at)
      question.names.push_back(parse_connect_string(at->second).servers.front().host);
    questions.push_back(std::move(question));
  }
  const auto answers = inquire(
      questions, {.deadline = Clock::now() + patience, .most_bytes = longest_answer, .stop = stop});
  std::set<std::string> found;
  for (std::size_t i = 0; i < questions.size(); ++i)
    if (answers[i].text == "rw") found.insert(questions[i].server.text());
  return found;
}

}  // namespace

/// The opener opens all sessions except those of replace_session, one at a time.
void Session::serve(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    state_->opener.await(stop, next_look_up());
    if (stop.stop_requested()) return;
    run_sasl(stop);
    open_one(stop);
    look_up_again();
    try {
      ask_for_tick(stop);
      ask_for_modes(stop);
      ask_for_version(stop);
    } catch (const std::exception&) {
      // They do not say: there is no room for a socket, or zksh is to end.
    }
  }
}

/// Takes the steps of SASL exchanges that are due. Without a ticket for a server a new session
/// cannot begin. One that has begun tries again: a KDC may be away for a moment, or the user gets a
/// new ticket.
void Session::run_sasl(const std::stop_token& stop) {
  while (true) {
    std::optional<SaslJob> job;
    monitor_.with_lock([&](const Monitor::Held&) {
      if (state_->sasl_jobs.empty()) return;
      job = std::move(state_->sasl_jobs.front());
      state_->sasl_jobs.pop_front();
    });
    if (!job) return;
    auto& on = *job->handle;
    const bool begins = !job->token && job->error == 0;
    if (begins) {
      on.sasl = std::make_shared<SaslExchange>(settings_.security.sasl, job->host);
      on.sasl_connection = job->connection;
      if (settings_.security.sasl.mechanism == "GSSAPI")
        monitor_.with_lock(
            [&](const Monitor::Held&) { on.sasl_problem = "Kerberos has not answered yet"; });
    } else if (on.sasl_connection != job->connection) {
      continue;  // of a connection that is lost
    }
    const auto step = job->error == 0 ? SaslExchange::advance(on.sasl, job->token, stop)
                                      : SaslExchange::Step{.failed = true};
    if (stop.stop_requested()) return;
    const bool retries = monitor_.with_lock([&](const Monitor::Held&) {
      if (step.is_over) on.kerberos_user = step.user;
      on.sasl_problem = step.problem;
      return begins && on.ever_connected;
    });
    if (step.token) on.wire.send_sasl(job->connection, *step.token);
    if (step.is_over) on.wire.end_sasl(job->connection);
    if (!step.failed) continue;
    if (retries) {
      on.wire.drop_sasl(job->connection);
      continue;
    }
    on.wire.stop();
    monitor_.change(
        [&](const Monitor::Held& held) { on.note_state(held, SessionState::AuthFailed, nullptr); });
  }
}

/// When the servers' names are due to be looked up again: now and then without a connection.
Clock::time_point Session::next_look_up() {
  constexpr std::chrono::seconds interval{2};
  return monitor_.with_lock([&](const Monitor::Held&) {
    const auto open = state_->open_handle();
    const bool is_due =
        open && has_names(open->servers) && !is_connected(open->state) && !is_dead(open->state);
    return is_due ? open->looked_up + interval : Clock::time_point::max();
  });
}

/// Tells the C client the servers' present addresses: it gets numeric ones, and so cannot notice
/// that a name has moved.
void Session::look_up_again() {
  if (Clock::now() < next_look_up()) return;
  const auto on = open_handle();
  if (!on) return;
  auto order = trying_order(on->servers);
  const bool has_moved = monitor_.with_lock([&](const Monitor::Held&) {
    on->looked_up = Clock::now();
    return !order.names.empty() && order.names != on->names;
  });
  if (!has_moved) return;
  {
    const Wire::Hold hold(on->wire);
    // It would leave a server without an event.
    if (!hold.get() || is_unrecoverable(hold.get()) != ZOK ||
        is_connected(session_state(zoo_state(hold.get()))))
      return;
    monitor_.with_lock([&](const Monitor::Held&) { on->names = std::move(order.names); });
    // It compares lists without ports (3.8.0: addrvec_eq), and keeps the old one if the new one
    // looks the same and is as long: so one comes in between that is longer.
    zoo_set_servers(hold.get(), (order.addresses + ',' + order.addresses).c_str());
    zoo_set_servers(hold.get(), order.addresses.c_str());
  }
  on->wire.look_again();
}

void Session::ask_for_tick(const std::stop_token& stop) {
  const auto asked = monitor_.with_lock([&](const Monitor::Held& held) {
    return std::exchange(state_->wants_tick, false) ? of_handle(held, &Handle::connected_to) : "";
  });
  if (asked.empty()) return;
  const auto on = open_handle();
  const auto address = address_of_server(on.get());
  std::chrono::milliseconds tick{0};
  if (address) tick = tick_of(address->server(), on->hosts_of(address->server().text()), stop);
  monitor_.with_lock([&](const Monitor::Held&) { known_servers().ticks[asked] = tick; });
}

void Session::ask_for_modes(const std::stop_token& stop) {
  AddressNames servers;
  monitor_.with_lock([&](const Monitor::Held&) {
    const auto open = state_->open_handle();
    if (std::exchange(state_->wants_modes, false) && open) servers = open->names;
  });
  if (servers.empty()) return;
  auto found = find_writable(servers, stop);
  monitor_.with_lock([&](const Monitor::Held&) { known_servers().writable = std::move(found); });
}

/// Whether the opener should ask for the version of the server with this address.
bool Session::wants_version_of(const Monitor::Held& /*held*/, const std::string& address) {
  return state_->wants_versions && !address.empty() && !known_servers().versions.contains(address);
}

bool Session::has_version(Handle* on, int major, int minor) {
  std::optional<KnownServers::Version> known;
  bool asks = false;
  monitor_.with_lock([&](const Monitor::Held& held) {
    state_->wants_versions = true;
    if (!on) return;
    known = found_in(known_servers().versions, on->address);
    asks = wants_version_of(held, on->address);
  });
  if (asks) {
    start_opener();
    state_->opener.ring();
  }
  return known && std::pair(known->major, known->minor) >= std::pair(major, minor);
}

/// Asks the connected server for its version, once.
void Session::ask_for_version(const std::stop_token& stop) {
  const auto on = open_handle();
  const auto address = monitor_.with_lock([&](const Monitor::Held& held) -> std::string {
    return on && wants_version_of(held, on->address) ? on->address : "";
  });
  if (address.empty()) return;
  const auto version = version_of(address, on->hosts_of(address), stop);
  constexpr int most_questions = 3;
  monitor_.change([&](const Monitor::Held&) {
    if (version || ++known_servers().silences[address] == most_questions)
      known_servers().versions[address] = version.value_or(KnownServers::Version{});
  });
}

void Session::Handle::has_no_version() {
  session.monitor_.with_lock(
      [&](const Monitor::Held&) { session.known_servers().versions[address] = {}; });
}

void Session::Handle::accepted(const Credential& credential) {
  session.monitor_.with_lock([&](const Monitor::Held&) {
    if (std::ranges::count(credentials, credential) == 0) credentials.push_back(credential);
  });
}

std::vector<Credential> Session::credentials() {
  return monitor_.with_lock(
      [&](const Monitor::Held& held) { return of_handle(held, &Handle::credentials); });
}

std::vector<Identity> Session::identities() {
  const auto on = open_handle();
  const bool connected = is_connected(current_state());
  if (!connected || !on) return {};
  std::vector<Identity> all;
  if (const auto own = own_address(on.get()); !own.empty())
    all.push_back({.scheme = "ip", .id = own});
  // With Kerberos, servers drop the realm if they are configured to.
  const auto& sasl = settings_.security.sasl;
  const auto principal =
      monitor_.with_lock([&](const Monitor::Held&) { return on->kerberos_user; });
  if (const auto& user = sasl.mechanism == "DIGEST-MD5" ? sasl.user : principal; !user.empty())
    all.push_back({.scheme = "sasl", .id = user});
  for (const auto& [scheme, secret] : credentials()) {
    if (scheme == "ip") continue;  // the server adds what it already knows
    // Only the servers know the ids of schemes other than digest.
    Identity identity{.scheme = scheme, .id = scheme == "digest" ? digest_id(secret) : ""};
    if (std::ranges::count(all, identity) == 0) all.push_back(std::move(identity));
  }
  return all;
}

/// Whether the session has sent credentials other than those of the settings.
bool Session::sent_others(const Monitor::Held& held) const {
  return state_->phase == Phase::Refused || of_handle(held, &Handle::other_credentials);
}

std::string Session::why_refused(const Monitor::Held& held) const {
  return sent_others(held) ? "" : why_settings_refused(of_handle(held, &Handle::sasl_problem));
}

std::string Session::why_settings_refused(const std::string& sasl_problem) const {
  const auto& sasl = settings_.security.sasl;
  if (!sasl_problem.empty()) return sasl_problem;
  if (sasl.mechanism == "GSSAPI")
    return "the servers do not support SASL GSSAPI, or refused the Kerberos ticket; "
           "kinit gets a new one";
  if (!sasl.mechanism.empty())
    return fmt::format(
        "the servers do not support SASL {} (3.9.4 and later need -Dzookeeper.fips-mode=false), or "
        "refused the user {} or the password; correct it and start zksh again",
        sasl.mechanism, sasl.user);
  const auto& file = settings_.credentials_file;
  if (file.empty()) return {};
  return fmt::format(
      "the servers do not know a scheme of the auth file {}, or refused its credential, and then "
      "close every session; correct the file and start zksh again",
      file);
}

void Session::fail_authentication() {
  end(monitor_.change([&](const Monitor::Held& held) { return enter(held, Phase::Refused); }));
}

namespace {

Stat stat_of(const ::Stat* from) {
  if (!from) return {};
  return {.czxid = from->czxid,
          .mzxid = from->mzxid,
          .ctime = from->ctime,
          .mtime = from->mtime,
          .version = from->version,
          .cversion = from->cversion,
          .aversion = from->aversion,
          .ephemeral_owner = from->ephemeralOwner,
          .data_length = from->dataLength,
          .num_children = from->numChildren,
          .pzxid = from->pzxid};
}

const char* bytes_of(const Data& data) { return data ? data->data() : nullptr; }
int size_of(const Data& data) { return data ? static_cast<int>(data->size()) : -1; }

/// The C client's view of an ACL; borrows the strings, which are only read.
class AclView {
 public:
  explicit AclView(const Acl& acl) {
    for (const auto& entry : acl)
      entries_.push_back({.perms = entry.perms,
                          .id = {.scheme = const_cast<char*>(entry.scheme.c_str()),
                                 .id = const_cast<char*>(entry.id.c_str())}});
    vector_ = {.count = static_cast<int>(entries_.size()), .data = entries_.data()};
  }
  const ACL_vector* get() const { return &vector_; }

 private:
  std::vector<::ACL> entries_;
  ACL_vector vector_{};
};

int mode_of(const CreateOp& op) {
  if (op.mode == CreateMode::Container) return ZOO_CONTAINER;
  if (op.ttl > 0)
    return op.sequential ? ZOO_PERSISTENT_SEQUENTIAL_WITH_TTL : ZOO_PERSISTENT_WITH_TTL;
  if (op.mode == CreateMode::Ephemeral)
    return op.sequential ? ZOO_EPHEMERAL_SEQUENTIAL : ZOO_EPHEMERAL;
  return op.sequential ? ZOO_PERSISTENT_SEQUENTIAL : ZOO_PERSISTENT;
}

void nothing_done(int rc, const void* data) { conclude<Nothing>(data, rc, {}); }
void stat_done(int rc, const ::Stat* stat, const void* data) {
  conclude<Stat>(data, rc, stat_of(stat));
}
/// The content of a large answer. Restores the Stat to what the server sent.
template <class T>
std::optional<LargeAnswer> content_of(const void* data, const ::Stat* sent, Stat& stat) {
  auto content = static_cast<const CallOf<T>*>(data)->handle->take_content(sent);
  if (!content) return std::nullopt;
  stat.mzxid = content->mzxid;
  stat.data_length = content->data_length;
  return content;
}

void node_done(int rc, const char* bytes, int size, const ::Stat* stat, const void* data) {
  Node node{.data = std::nullopt, .stat = stat_of(stat)};
  if (rc == ZOK && size >= 0)
    node.data = bytes ? std::string(bytes, static_cast<std::size_t>(size)) : std::string();
  if (auto content = content_of<Node>(data, stat, node.stat)) node.data = std::move(content->value);
  conclude<Node>(data, rc, std::move(node));
}

/// A watcher function and its context for the C client; null for no watch.
struct Watcher {
  watcher_fn function = nullptr;
  void* context = nullptr;
};

ZooWatcherType server_kind(WatchKind kind) {
  return kind == WatchKind::OfChildren ? ZWATCHTYPE_CHILD : ZWATCHTYPE_DATA;
}

Watcher watcher_for(const Watch& watch, Session::Handle* handle) {
  if (!handle || !watch.is_set()) return {};
  // With the same function and context as the handle's own, the C client, like Java's, fires one
  // event for a node's data, exists and child watches.
  if (watch.is_printed()) return {Session::Handle::on_event, handle};
  return {Session::Handle::on_private_watch, handle->context_of(watch.mailbox())};
}

/// Sends a read, which may set a watch there, with `send(zh, watcher, data)`.
template <class T, class Send>
Pending<T> read(Session& session, Call::Watching place, const Watch& watch, Send&& send) {
  const auto on = session.open_handle();
  auto call = std::make_unique<CallOf<T>>();
  const auto watcher = watcher_for(watch, on.get());
  place.who = watcher.context;
  if (watcher.function) call->watching = std::move(place);
  return start(session.monitor(), on.get(), std::move(call),
               [&](zhandle_t* zh, const void* data) { return send(zh, watcher, data); });
}

/// Removes the watches that report to a mailbox, without asking the server.
void forget_here(Session::Handle& handle, const std::string& path, void* who) {
  handle.session.monitor().with_lock([&](const Monitor::Held&) {
    for (const auto kind : {WatchKind::OfData, WatchKind::OfChildren})
      handle.watchers.forgotten(path, kind, who);
  });
  const Wire::Hold hold(handle.wire);
  if (hold.get())  // sends nothing, and calls nothing back
    zoo_aremove_watches(hold.get(), path.c_str(), ZWATCHTYPE_ANY, Session::Handle::on_private_watch,
                        who, 1, nullptr, nullptr);
}

void take_names(const String_vector& from, std::vector<std::string>& to) {
  to.assign(from.data, from.data + from.count);
}
void take_names(const NameList& from, std::vector<std::string>& to) {
  for (std::size_t i = 0; i < from.size(); ++i) to.emplace_back(from[i]);
}

void take_names(NameList from, NameList& to) { to = std::move(from); }
void take_names(const String_vector& from, NameList& to) {
  std::size_t bytes = 0;
  for (int i = 0; i < from.count; ++i) bytes += std::strlen(from.data[i]);
  to.reserve(static_cast<std::size_t>(from.count), bytes);
  for (int i = 0; i < from.count; ++i) to.add(from.data[i]);
}

template <class T>
Pending<T> list(Session& session, const std::string& path, const Watch& watch) {
  const auto done = [](int rc, const String_vector* names, const ::Stat* stat, const void* data) {
    T list{.names = {}, .stat = stat_of(stat)};
    if (auto content = content_of<T>(data, stat, list.stat))
      take_names(std::move(content->names), list.names);
    else if (names)
      take_names(*names, list.names);
    conclude<T>(data, rc, std::move(list));
  };
  return read<T>(session, {.path = path, .kind = WatchKind::OfChildren}, watch,
                 [&](zhandle_t* zh, const Watcher& watcher, const void* data) {
                   return zoo_awget_children2(zh, path.c_str(), watcher.function, watcher.context,
                                              done, data);
                 });
}

}  // namespace

/// A session that is idle sends a read as often as a contender that waits, so that a lock that is
/// asked for later is safe at once (SessionLease::lasts): pings, three in a session timeout, are
/// too rare.
Clock::time_point Session::Handle::tend() {
  constexpr std::chrono::seconds look_again{1};
  std::shared_ptr<SessionLease> idle;
  session.monitor_.with_lock([&](const Monitor::Held&) {
    if (is_connected(state) && calls == 0) idle = lease;
  });
  if (!idle) return Clock::now() + look_again;
  const auto interval = LeaseRenewal::interval(idle->timeout());
  if (BootClock::now() >= std::max(idle->last_sent(), beat) + interval) {
    beat = BootClock::now();
    start(session.monitor_, this, std::make_unique<CallOf<Stat>>(),
          [](zhandle_t* zh, const void* data) { return zoo_aexists(zh, "/", 0, stat_done, data); });
  }
  return wait_until(std::max(idle->last_sent(), beat) + interval);
}

namespace {

/// Notes in a call which of the session's ephemerals it removes.
void note_removals(Session::Handle& on, Call& call, const std::vector<Op>& ops) {
  on.session.monitor().with_lock([&](const Monitor::Held&) {
    if (on.ephemerals.empty()) return;
    for (const auto& op : ops)
      if (const auto* removal = std::get_if<RemoveOp>(&op);
          removal && on.ephemerals.contains(removal->path))
        call.removals.push_back(removal->path);
  });
}

bool makes_ephemeral(const Op& op) {
  const auto* creation = std::get_if<CreateOp>(&op);
  return creation && creation->mode == CreateMode::Ephemeral;
}

}  // namespace

Pending<Nothing> Session::start_remove(const RemoveOp& op) {
  const auto on = open_handle();
  auto call = std::make_unique<CallOf<Nothing>>();
  if (on) note_removals(*on, *call, {op});
  return start(monitor_, on.get(), std::move(call), [&](zhandle_t* zh, const void* data) {
    if (removes_root(op)) return static_cast<int>(ZBADARGUMENTS);
    return zoo_adelete(zh, op.path.c_str(), op.version, nothing_done, data);
  });
}

Pending<Stat> Session::start_set(const SetOp& op) {
  return request<Stat>(*this, [&](zhandle_t* zh, const void* data) {
    return zoo_aset(zh, op.path.c_str(), bytes_of(op.data), size_of(op.data), op.version, stat_done,
                    data);
  });
}

Pending<Stat> Session::start_exists(const std::string& path, const Watch& watch) {
  return read<Stat>(*this, {.path = path, .on_missing = true}, watch,
                    [&](zhandle_t* zh, const Watcher& watcher, const void* data) {
                      return zoo_awexists(zh, path.c_str(), watcher.function, watcher.context,
                                          stat_done, data);
                    });
}

Pending<Node> Session::start_get(const std::string& path, const Watch& watch) {
  return read<Node>(
      *this, {.path = path}, watch, [&](zhandle_t* zh, const Watcher& watcher, const void* data) {
        return zoo_awget(zh, path.c_str(), watcher.function, watcher.context, node_done, data);
      });
}

Pending<Node> Session::start_get_config(const Watch& watch) {
  // Through a chroot at or above the node, that is an ordinary node, and its events name it so.
  const auto own = monitor_.with_lock([&](const Monitor::Held&) {
    const auto open = state_->open_handle();
    return open ? path_through(open->servers.chroot, config_node) : std::nullopt;
  });
  if (own) return start_get(*own, watch);
  return read<Node>(*this, {.path = std::string(config_node)}, watch,
                    [](zhandle_t* zh, const Watcher& watcher, const void* data) {
                      return zoo_awgetconfig(zh, watcher.function, watcher.context, node_done,
                                             data);
                    });
}

Pending<Children> Session::start_children(const std::string& path, const Watch& watch) {
  return list<Children>(*this, path, watch);
}

Pending<Listing> Session::start_names(const std::string& path, const Watch& watch) {
  return list<Listing>(*this, path, watch);
}

namespace {

/// A request that the C client cannot make.
template <class T>
struct OwnCall : CallOf<T> {
  std::function<T(const AnswerHeader& answer)> result{};
};

template <class T>
void own_done(const AnswerHeader& answer, const void* data) {
  int rc = answer.code;
  const auto& call = static_cast<const OwnCall<T>&>(*static_cast<const CallOf<T>*>(data));
  // The server is not what it says it is, and closes the connection.
  if (rc == ZUNIMPLEMENTED) {
    call.handle->has_no_version();
    rc = ZCONNECTIONLOSS;
  }
  T value{};
  try {
    if (rc == ZOK) value = call.result(answer);
  } catch (const std::bad_alloc&) {
    rc = ZSYSTEMERROR;
  }
  conclude(data, rc, std::move(value));
}

/// `result` gets a valid answer, or what is behind its header.
template <class T, class Result>
Pending<T> ask_own(Session& session, Session::Handle* on, std::int32_t operation,
                   const std::string& body, Result result) {
  auto call = std::make_unique<OwnCall<T>>();
  if constexpr (std::is_invocable_v<Result, const AnswerHeader&>)
    call->result = std::move(result);
  else
    call->result = [result = std::move(result)](const AnswerHeader& answer) {
      return result(answer.body);
    };
  return start(session.monitor(), on, std::unique_ptr<CallOf<T>>(std::move(call)),
               [&](zhandle_t* /*zh*/, const void* data) {
                 return on->wire.ask(operation, body, own_done<T>, data);
               });
}

/// The reads of the parts, one after the other.
Reads joined(std::vector<Reads> parts) {
  if (parts.size() == 1) return std::move(parts.front());
  using Answers = Answer<std::vector<ReadResult>>;
  const auto count = parts.size();
  auto join = [parts = std::move(parts)](const Monitor::Held& held) -> Answers::Value {
    Outcome<std::vector<ReadResult>> all;
    for (const auto& part : parts)
      if (!(*part.answer)(held)) return std::nullopt;
    for (const auto& part : parts) {
      auto& [code, results, culprit] = *(*part.answer)(held);
      if (code != code::ok) all.code = code;
      std::ranges::move(results, std::back_inserter(all.value));
    }
    return all;
  };
  return {.answer = std::make_shared<Answers>(std::move(join)), .requests = count};
}

}  // namespace

Reads Session::start_reads(const std::vector<ReadOp>& ops) {
  constexpr std::size_t most_bytes = 65536;  // servers refuse requests of more than jute.maxbuffer
  const auto on = open_handle();
  if (!has_version(on.get(), 3, 6) || ops.size() < 2) return Client::start_reads(ops);
  std::vector<Reads> parts;
  for (auto first = ops.begin(); first != ops.end();) {
    auto end = first;
    for (std::size_t bytes = 0; end != ops.end() && (end == first || bytes < most_bytes); ++end)
      bytes += multi_read::size_of(*end);
    std::vector<ReadOp> some(first, end);
    first = end;
    const auto body = multi_read::request(on->servers.chroot, some);
    auto answer =
        ask_own<std::vector<ReadResult>>(*this, on.get(), operation::multi_read, body,
                                         [some = std::move(some)](std::string_view bytes) {
                                           return multi_read::results(bytes, some);
                                         });
    parts.push_back({.answer = std::move(answer), .requests = 1});
  }
  return joined(std::move(parts));
}

void Session::Handle::ask_zxid() {
  const bool is_asked = zxid_question && session.monitor_.with_lock([&](const Monitor::Held& held) {
    return !(*zxid_question)(held).has_value();
  });
  if (is_asked) return;
  const auto without_watch = path_request(servers.chroot, "/") + '\0';
  zxid_question = ask_own<Nothing>(session, this, operation::exists, without_watch,
                                   [](std::string_view /*answer*/) { return Nothing(); });
}

Pending<std::vector<std::string>> Session::start_get_ephemerals(const std::string& prefix) {
  using Paths = std::vector<std::string>;
  const auto on = open_handle();
  if (!has_version(on.get(), 3, 6)) return Client::start_get_ephemerals(prefix);
  const auto& chroot = on->servers.chroot;
  return ask_own<Paths>(
      *this, on.get(), operation::get_ephemerals, path_request(chroot, prefix),
      [chroot](std::string_view answer) { return ephemerals_in(answer, chroot); });
}

Pending<std::int64_t> Session::start_count_descendants(const std::string& path) {
  const auto on = open_handle();
  if (!has_version(on.get(), 3, 6)) return Client::start_count_descendants(path);
  return ask_own<std::int64_t>(*this, on.get(), operation::count_descendants,
                               path_request(on->servers.chroot, path), number_in);
}

Pending<std::vector<Identity>> Session::start_who_am_i() {
  using Identities = std::vector<Identity>;
  const auto on = open_handle();
  if (!has_version(on.get(), 3, 7)) return Client::start_who_am_i();
  return ask_own<Identities>(*this, on.get(), operation::who_am_i, "", identities_in);
}

namespace {

/// An answer without a request.
Pending<Nothing> settled(int code) {
  return std::make_shared<Answer<Nothing>>(
      [code](const Monitor::Held& /*held*/) { return Outcome<Nothing>{.code = code}; });
}

}  // namespace

/// Up to 3.8 a server has one mode for a session and a path: a one-shot watch would replace the
/// persistent one, and the other way round. So a one-shot watch is not sent if the persistent one
/// reports what it would (WireOwner::is_reported): the C client gets these events all the same. A
/// recursive one does not report the list of children; for that the server has modes apart, and
/// needs the one-shot watch after it.
Pending<std::int64_t> Session::start_add_watch(const std::string& path, WatchMode mode,
                                               const Mailbox& mailbox) {
  const auto on = open_handle();
  if (!has_version(on.get(), 3, 6)) return Client::start_add_watch(path, mode, mailbox);
  const bool keeps_modes = has_version(on.get(), 3, 9);
  const Wire::Hold hold(on->wire);  // what is noted is what is sent
  auto [first, last] = on->persistent.equal_range(path);
  const bool is_alone = std::all_of(first, last, [&](const auto& watch) {
    return watch.second.mailbox == mailbox || watch.second.mode == mode;
  });
  if (!is_alone && !keeps_modes) return Client::start_add_watch(path, mode, mailbox);
  const auto& chroot = on->servers.chroot;
  auto answer = ask_own<std::int64_t>(*this, on.get(), operation::add_watch,
                                      add_watch_request(chroot, path, mode),
                                      [](const AnswerHeader& header) { return header.zxid; });
  if (monitor_.with_lock([&](const Monitor::Held& held) { return (*answer)(held).has_value(); }))
    return answer;  // it was not sent
  const auto same =
      std::find_if(first, last, [&](const auto& watch) { return watch.second.mailbox == mailbox; });
  if (same == last)
    on->persistent.emplace(path, Handle::PersistentWatch{.mailbox = mailbox, .mode = mode});
  else
    same->second.mode = mode;
  const bool has_list = monitor_.with_lock(
      [&](const Monitor::Held&) { return on->watchers.has(path, WatchKind::OfChildren); });
  if (has_list && mode == WatchMode::Recursive)  // sets it, or sets it again
    ask_own<Nothing>(*this, on.get(), operation::children, watching_request(chroot, path),
                     [](std::string_view /*answer*/) { return Nothing(); });
  return answer;
}

Pending<Nothing> Session::start_end_watch(const std::string& path, const Mailbox& mailbox) {
  const auto on = open_handle();
  if (!on) return settled(code::no_watcher);
  const Wire::Hold hold(on->wire);
  auto [first, last] = on->persistent.equal_range(path);
  const auto found =
      std::find_if(first, last, [&](const auto& watch) { return watch.second.mailbox == mailbox; });
  if (found == last) return settled(code::no_watcher);
  on->persistent.erase(found);
  // The server would remove the one-shot watches too, and has only one for all who watch.
  const bool is_needed = on->persistent.contains(path) || monitor_.with_lock([&](const auto&) {
    return on->watchers.has(path, WatchKind::OfData) ||
           on->watchers.has(path, WatchKind::OfChildren);
  });
  if (is_needed) return settled(code::ok);
  return ask_own<Nothing>(*this, on.get(), operation::remove_watches,
                          remove_watches_request(on->servers.chroot, path),
                          [](std::string_view /*answer*/) { return Nothing(); });
}

std::int64_t Session::last_zxid(const Monitor::Held& /*held*/) {
  const auto open = state_->open_handle();
  return open ? open->wire.last_zxid() : 0;
}

void Session::learn_server(const std::string& path, const std::stop_token& stop) {
  constexpr std::chrono::seconds patience{1};
  await_connection(path, stop);
  const auto on = open_handle();
  if (!on || has_version(on.get(), 0, 0)) return;
  monitor_.wait_until(stop, Clock::now() + patience, [&](const Monitor::Held&) {
    return found_in(known_servers().versions, on->address) || state_->open_handle() != on;
  });
  if (stop.stop_requested()) throw Cancelled();
}

Pending<NodeAcl> Session::start_get_acl(const std::string& path) {
  const auto done = [](int rc, ACL_vector* acl, ::Stat* stat, const void* data) {
    NodeAcl result{.acl = {}, .stat = stat_of(stat)};
    for (int i = 0; acl && i < acl->count; ++i)
      result.acl.push_back({acl->data[i].perms, acl->data[i].id.scheme, acl->data[i].id.id});
    conclude<NodeAcl>(data, rc, std::move(result));
  };
  return request<NodeAcl>(*this, [&](zhandle_t* zh, const void* data) {
    return zoo_aget_acl(zh, path.c_str(), done, data);
  });
}

Pending<Nothing> Session::start_set_acl(const std::string& path, const Acl& acl,
                                        std::int32_t version) {
  // The C client only reads the vector, despite its type.
  const AclView view(acl);
  return request<Nothing>(*this, [&](zhandle_t* zh, const void* data) {
    return zoo_aset_acl(zh, path.c_str(), version, const_cast<ACL_vector*>(view.get()),
                        nothing_done, data);
  });
}

Pending<Nothing> Session::start_sync(const std::string& path) {
  const auto done = [](int rc, const char* /*path*/, const void* data) {
    conclude<Nothing>(data, rc, {});
  };
  return request<Nothing>(*this, [&](zhandle_t* zh, const void* data) {
    return zoo_async(zh, path.c_str(), done, data);
  });
}

Pending<Nothing> Session::start_add_auth(const std::string& scheme, const std::string& auth) {
  return add_auth_to(open_handle().get(), {.scheme = scheme, .secret = auth});
}

Pending<Nothing> Session::add_auth_to(Handle* on, const Credential& credential) {
  struct AuthCall : CallOf<Nothing> {
    Credential credential;
  };
  const auto done = [](int rc, const void* data) {
    const auto* call = static_cast<const AuthCall*>(static_cast<const CallOf<Nothing>*>(data));
    if (rc == ZOK) call->handle->accepted(call->credential);
    conclude<Nothing>(data, rc, {});
  };
  auto call = std::make_unique<AuthCall>();
  call->credential = credential;
  const auto& [scheme, secret] = credential;
  if (on && std::ranges::count(settings_.credentials, credential) == 0)
    monitor_.with_lock([&](const Monitor::Held&) { on->other_credentials = true; });
  return start(monitor_, on, std::unique_ptr<CallOf<Nothing>>(std::move(call)),
               [&, bytes = secret.data(), size = static_cast<int>(secret.size()),
                name = scheme.c_str()](zhandle_t* zh, const void* data) {
                 return zoo_add_auth(zh, name, bytes, size, done, data);
               });
}

Pending<Node> Session::start_reconfigure(const Reconfiguration& change) {
  const auto text = [](const std::optional<std::string>& part) {
    return part ? part->c_str() : nullptr;
  };
  return start_newer(
      *this, std::make_unique<CallOf<Node>>(),
      [change, text](zhandle_t* zh, const void* data) {
        return zoo_areconfig(zh, text(change.joining), text(change.leaving), text(change.members),
                             change.version, node_done, data);
      },
      send_nothing);
}

Pending<Nothing> Session::start_remove_watches(const std::string& path, WatchKind kind,
                                               bool local) {
  const auto type = server_kind(kind);
  const auto here = [path, type](zhandle_t* zh, const void* data) {
    // It sends nothing, and calls nothing back.
    const int rc = zoo_aremove_watches(zh, path.c_str(), type, Handle::on_event,
                                       const_cast<void*>(zoo_get_context(zh)), 1, nullptr, nullptr);
    if (rc == ZOK) nothing_done(rc, data);
    return rc;
  };
  const auto on = open_handle();
  auto call = std::make_unique<CallOf<Nothing>>();
  call->unwatching = Call::Watching{.path = path, .kind = kind, .who = on.get()};
  if (local) return start(monitor_, on.get(), std::move(call), here);
  const auto there = [path, type, kind, here, handle = on.get()](zhandle_t* zh, const void* data) {
    if (handle->reports(path, kind)) return here(zh, data);  // the server has no other
    // The C client's type is a pointer to the completion, but it calls what it is given.
    return zoo_aremove_watches(zh, path.c_str(), type, Handle::on_event,
                               const_cast<void*>(zoo_get_context(zh)), 0,
                               reinterpret_cast<void_completion_t*>(nothing_done), data);
  };
  return start_newer(*this, std::move(call), there, here);
}

OpenWatches Session::open_watches(const Mailbox& without) {
  return monitor_.with_lock([&](const Monitor::Held&) -> OpenWatches {
    const auto open = state_->open_handle();
    if (!open) return {};
    const auto found =
        std::ranges::find(open->mailboxes, without, [](const auto& entry) { return entry.second; });
    return open->watchers.open(found == open->mailboxes.end() ? nullptr : found->first);
  });
}

void Session::forget_watches(const std::string& path, const Mailbox& mailbox) {
  const auto on = open_handle();
  if (on) forget_here(*on, path, on->context_of(mailbox));
}

void Session::drop_watches(const std::string& path, const Mailbox& mailbox, WatchKind kind) {
  const auto on = open_handle();
  if (!on) return;
  auto* const who = on->context_of(mailbox);
  // The watch stays at the server; its events are dropped.
  const auto here = [path, who, handle = on.get()](zhandle_t* /*zh*/, const void* data) -> int {
    forget_here(*handle, path, who);
    nothing_done(ZOK, data);
    return ZOK;
  };
  const auto there = [=, this, handle = on.get()](zhandle_t* zh, const void* data) -> int {
    // With the wire's Hold: a read that sets a watch is sent either before, and seen here, or
    // after.
    const bool is_persistent = handle->reports(path, kind);
    const bool is_only = monitor_.with_lock([&](const Monitor::Held&) {
      if (is_persistent || !handle->watchers.only(path, kind, who)) return false;
      handle->watchers.forgotten(path, kind, who);
      return true;
    });
    if (!is_only) return here(zh, data);
    // zoo_aremove_watches of a single watcher would leave the server's watch.
    return zoo_aremove_all_watches(zh, path.c_str(), server_kind(kind), 0,
                                   reinterpret_cast<void_completion_t*>(nothing_done), data);
  };
  start_newer(*this, std::make_unique<CallOf<Nothing>>(), there, here);
}

Pending<Created> Session::start_create(const CreateOp& op) {
  if (op.mode == CreateMode::Ephemeral) made_ephemerals_ = true;
  if (!fits_multi(op)) {
    const auto send = [op](zhandle_t* zh, const void* data) {
      const auto done = [](int rc, const char* path, const ::Stat* stat, const void* sent) {
        conclude<Created>(sent, rc, {.path = path ? path : "", .stat = stat_of(stat)});
      };
      return zoo_acreate2_ttl(zh, op.path.c_str(), bytes_of(op.data), size_of(op.data),
                              AclView(op.acl).get(), mode_of(op), op.ttl > 0 ? op.ttl : -1, done,
                              data);
    };
    return start_newer(*this, std::make_unique<CallOf<Created>>(), send, send_nothing);
  }
  auto call = std::make_unique<CallOf<Created>>();
  call->makes_ephemerals = op.mode == CreateMode::Ephemeral;
  return start(monitor_, open_handle().get(), std::move(call),
               [&](zhandle_t* zh, const void* data) {
                 const auto done = [](int rc, const char* path, const void* sent) {
                   Created created{.path = path ? path : "", .stat = {}};
                   auto& handle = *static_cast<const CallOf<Created>*>(sent)->handle;
                   if (rc == ZOK) created.stat.czxid = handle.czxid_of(created.path);
                   conclude<Created>(sent, rc, std::move(created));
                 };
                 return zoo_acreate(zh, op.path.c_str(), bytes_of(op.data), size_of(op.data),
                                    AclView(op.acl).get(), mode_of(op), done, data);
               });
}

Pending<Nothing> Session::start_probe_newer() {
  const auto send = [](zhandle_t* /*zh*/, const void* data) {
    conclude<Nothing>(data, ZOK, {});
    return static_cast<int>(ZOK);
  };
  return start_newer(*this, std::make_unique<CallOf<Nothing>>(), send, send_nothing);
}

namespace {

/// The operations and results of a multi, and the buffers that they point to until the answer
/// arrives.
struct MultiCall : CallOf<std::vector<OpResult>> {
  std::vector<AclView> acls;
  std::vector<std::string> created;
  std::vector<::Stat> stats;
  std::vector<zoo_op_t> ops;
  std::vector<zoo_op_result_t> results;

  explicit MultiCall(const std::vector<Op>& requested)
      : created(requested.size()),
        stats(requested.size()),
        ops(requested.size()),
        results(requested.size()) {
    acls.reserve(requested.size());  // the C client makes no copy, so nothing may move
    for (std::size_t i = 0; i < requested.size(); ++i)
      std::visit([&](const auto& op) { add(i, op); }, requested[i]);
  }

  void add(std::size_t i, const CreateOp& op) {
    constexpr std::size_t longest_suffix = sizeof "-2147483648";
    created[i].resize(op.path.size() + longest_suffix);
    acls.emplace_back(op.acl);
    zoo_create_op_init(&ops[i], op.path.c_str(), bytes_of(op.data), size_of(op.data),
                       acls.back().get(), mode_of(op), created[i].data(),
                       static_cast<int>(created[i].size()));
  }
  void add(std::size_t i, const RemoveOp& op) {
    zoo_delete_op_init(&ops[i], op.path.c_str(), op.version);
  }
  void add(std::size_t i, const SetOp& op) {
    zoo_set_op_init(&ops[i], op.path.c_str(), bytes_of(op.data), size_of(op.data), op.version,
                    &stats[i]);
  }
  void add(std::size_t i, const CheckOp& op) {
    zoo_check_op_init(&ops[i], op.path.c_str(), op.version);
  }

  std::vector<OpResult> outcome() const {
    std::vector<OpResult> all(ops.size());
    for (std::size_t i = 0; i < ops.size(); ++i)
      all[i] = {.code = results[i].err,
                .path = created[i].substr(0, created[i].find('\0')),
                .stat = stat_of(&stats[i])};
    return all;
  }
};

void multi_done(int rc, const void* data) {
  const auto& call =
      static_cast<const MultiCall&>(*static_cast<const CallOf<std::vector<OpResult>>*>(data));
  auto results = call.outcome();
  const auto created =
      std::ranges::find_if(results, [](const OpResult& result) { return !result.path.empty(); });
  if (rc == ZOK && created != results.end()) {
    const auto czxid = call.handle->czxid_of(created->path);
    for (auto& result : results)
      if (!result.path.empty()) result.stat.czxid = czxid;
  }
  conclude<std::vector<OpResult>>(data, rc, std::move(results));
}

/// Refuses what zoo_amulti cannot handle: if it refuses an operation itself (a path, a dead handle)
/// it frees memory twice, and it aborts on the answer to a container's creation (3.8.0, whose
/// transactions do not support TTLs either).
int refusal(zhandle_t* zh, const std::vector<Op>& ops) {
  if (is_unrecoverable(zh) != ZOK) return code::invalid_state;
  const auto malformed = [](const Op& op) {
    const auto* created = std::get_if<CreateOp>(&op);
    return path_flaw(created && created->sequential ? created->path + '1' : path_of(op))
        .has_value();
  };
  const auto unknown = [](const Op& op) {
    const auto* created = std::get_if<CreateOp>(&op);
    return created && !fits_multi(*created);
  };
  if (std::ranges::any_of(ops, malformed)) return code::bad_arguments;
  if (std::ranges::any_of(ops, unknown)) return code::unimplemented;
  return code::ok;
}

/// The answer to a transaction that removes /. In a failed one, the other operations are undone or
/// not tried.
std::vector<OpResult> outcome_with_root(const std::vector<Op>& ops) {
  std::vector<OpResult> results(ops.size(),
                                {.code = code::runtime_inconsistency, .path = {}, .stat = {}});
  const auto culprit = std::ranges::find_if(ops, removes_root) - ops.begin();
  results[static_cast<std::size_t>(culprit)].code = code::bad_arguments;
  return results;
}

}  // namespace

Pending<std::vector<OpResult>> Session::start_multi(const std::vector<Op>& ops) {
  const auto on = open_handle();
  auto call = std::make_unique<MultiCall>(ops);
  auto& multi = *call;
  call->makes_ephemerals = std::ranges::any_of(ops, makes_ephemeral);
  if (on) note_removals(*on, *call, ops);
  return start(monitor_, on.get(), std::unique_ptr<CallOf<std::vector<OpResult>>>(std::move(call)),
               [&](zhandle_t* zh, const void* data) {
                 if (std::ranges::any_of(ops, removes_root)) {
                   conclude(data, ZBADARGUMENTS, outcome_with_root(ops));
                   return static_cast<int>(ZOK);
                 }
                 const int refused = refusal(zh, ops);
                 if (refused != code::ok) return refused;
                 return zoo_amulti(zh, static_cast<int>(multi.ops.size()), multi.ops.data(),
                                   multi.results.data(), multi_done, data);
               });
}

}  // namespace zksh
