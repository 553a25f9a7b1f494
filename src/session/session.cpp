// Session: a handle's life, from opening it to closing it, and the news that come meanwhile.
#include "session/session.h"

#include "base/afterwards.h"
#include "client/connect_string.h"
#include "client/why_unreachable.h"
#include "session/known_servers.h"
#include "session/session_handle.h"
#include "session/session_opening.h"
#include "session/wire_guard.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace zksh {
namespace {

/// How long servers may turn everybody away after a connection was lost: they elect a leader, or a
/// server is started again.
constexpr std::chrono::seconds turmoil{2};

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

std::size_t watch_key(const std::string& path, WatchKind kind) {
  return std::hash<std::string>()(path) * 2 + (kind == WatchKind::OfChildren ? 1 : 0);
}

}  // namespace

Session::Handle::~Handle() {
  hang_up_handshakes();
  if (zh) zookeeper_close(zh);
  session.monitor_.change([&](const Monitor::Held& held) {
    for (Call* call : std::exchange(calls, {})) {
      call->settle_error(held, code::closing);
      delete call;
    }
  });
}

void Session::Handle::on_event(zhandle_t* zh, int type, int state, const char* path,
                               void* context) {
  auto& handle = *static_cast<Handle*>(context);
  auto& session = handle.session;
  session.monitor_.change([&](const Monitor::Held& held) {
    auto& known = *session.state_;
    if (known.handle.get() != &handle) return;  // the last words of a session that was replaced
    handle.zh = zh;
    if (type != ZOO_SESSION_EVENT) handle.watches_fired(held, type, path ? path : "");
    Event event{
        .type = event_type(type), .path = path ? path : "", .state = known.state, .printed = true};
    if (event.type == Event::Type::Session) {
      event.printed = false;
      if (type != ZOO_SESSION_EVENT) return;
      event.path.clear();
      event.state = session_state(state);
      if (event.state == known.state) return;
      if (is_connected(known.state)) known.lost = Clock::now();
      known.state = event.state;
      if (is_connected(known.state)) {
        known.ever_connected = true;
        known.session_id = zoo_client_id(zh)->client_id;
        known.negotiated_timeout = zoo_recv_timeout(zh);
        known.lease = lease_of(known.session_id);
      }
    }
    session.sink_(held, event);
  });
}

void Session::Handle::on_private_watch(zhandle_t* zh, int type, int /*state*/, const char* path,
                                       void* context) {
  if (type == ZOO_SESSION_EVENT) return;  // who waits for a watch looks at the session's state too
  auto& handle = *static_cast<Handle*>(const_cast<void*>(zoo_get_context(zh)));
  const auto id = reinterpret_cast<std::uintptr_t>(context);
  auto& monitor = handle.session.monitor_;
  const Afterwards afterwards;
  const auto mailbox = monitor.look([&](const Monitor::Held& held) -> Mailbox {
    handle.watches_fired(held, type, path ? path : "");
    const auto found = handle.mailboxes.find(id);
    return found == handle.mailboxes.end() ? nullptr : found->second;
  });
  if (!mailbox) return;
  monitor.change_of(mailbox.get(), [&](const Monitor::Held& held) {
    (*mailbox)(held).push_back({.type = event_type(type), .path = path ? path : ""});
  });
}

void Session::Handle::note_watch(const Monitor::Held& /*held*/, const std::string& path,
                                 WatchKind kind, void* context) {
  const auto [place, fresh] = watches.try_emplace(watch_key(path, kind), context);
  if (!fresh && place->second != context) place->second = nullptr;
}

bool Session::Handle::only_watches(const Monitor::Held& /*held*/, const std::string& path,
                                   WatchKind kind, void* context) const {
  const auto found = watches.find(watch_key(path, kind));
  return found != watches.end() && found->second == context;
}

void Session::Handle::watches_fired(const Monitor::Held& /*held*/, int type,
                                    const std::string& path) {
  if (type != ZOO_CHILD_EVENT) watches.erase(watch_key(path, WatchKind::OfData));
  if (type == ZOO_CHILD_EVENT || type == ZOO_DELETED_EVENT)
    watches.erase(watch_key(path, WatchKind::OfChildren));
}

std::uintptr_t Session::Handle::id_of(const Monitor::Held& /*held*/, const Mailbox& mailbox) {
  // There are few at a time; those that nobody else knows any more are dropped on the way.
  std::uintptr_t id = 0;
  std::erase_if(mailboxes, [&](const auto& entry) {
    if (entry.second == mailbox) id = entry.first;
    return entry.second.use_count() == 1;
  });
  if (id == 0) mailboxes.emplace(id = ++last_mailbox, mailbox);
  return id;
}

Session::Session(Monitor& monitor, SessionSettings settings, std::string server, EventSink sink)
    : monitor_(monitor),
      settings_(std::move(settings)),
      sink_(std::move(sink)),
      state_(std::make_unique<State>()) {
  if (!settings_.known_servers) settings_.known_servers = std::make_shared<KnownServers>();
  state_->server = std::move(server);
  state_->state = SessionState::Connecting;
  zoo_set_debug_level(static_cast<ZooLogLevel>(settings_.log_level));
}

Session::~Session() { close(); }

void Session::replace(std::shared_ptr<Handle> fresh, const std::string& server) {
  // The old handle is closed after the monitor is free: closing waits for the C client's threads.
  std::shared_ptr<Handle> old = std::move(fresh);
  monitor_.change([&](const Monitor::Held& held) {
    std::swap(state_->handle, old);
    if (old) sink_(held, {.path = {}, .state = SessionState::Closed});
    state_->state = state_->handle ? SessionState::Connecting : SessionState::Closed;
    state_->server = server;
    state_->ever_connected = false;
    state_->opened = Clock::now();
    state_->session_id = 0;
    state_->negotiated_timeout = 0;
    state_->lease = nullptr;
    state_->credentials.clear();
    state_->other_credentials = false;
  });
}

void Session::open(const std::string& server) {
  const auto address = parse_connect_string(server);
  close();
  // Known before the C client starts: its first event can come before zookeeper_init returns.
  auto fresh = std::make_shared<Handle>(*this);
  replace(fresh, server);
  const int flags = ZOO_NO_LOG_CLIENTENV | (settings_.read_only ? ZOO_READONLY : 0);
  // Several servers are in their order already; the addresses of a single name are not.
  zoo_deterministic_conn_order(address.servers.size() > 1 ? 1 : 0);
  zhandle_t* const zh = open_handle(monitor_, settings_.security, address, Handle::on_event,
                                    settings_.session_timeout_ms, fresh.get(), flags);
  if (!zh) {
    const int reason = errno;
    replace(nullptr, server);
    // The next request tries again: the network may be back then.
    monitor_.change([&](const Monitor::Held&) { state_->state = SessionState::Connecting; });
    throw Error("cannot connect to " + (reason == ENOENT
                                            ? why_unreachable(address)
                                            : fmt::format("{}: {}", server, std::strerror(reason))),
                status::no_connection);
  }
  // Without this the C client resolves the names on every turn of its loop; now only to reconnect.
  zoo_set_servers_resolution_delay(zh, -1);
  monitor_.change([&](const Monitor::Held&) { fresh->zh = zh; });
  // The C client keeps them until it is connected, and sends them before anything else.
  for (const auto& [scheme, secret] : settings_.credentials) start_add_auth(scheme, secret);
}

std::unique_ptr<Client> Session::another() {
  return std::make_unique<Session>(monitor_, settings_, server(),
                                   [](const Monitor::Held& /*held*/, const Event& /*event*/) {});
}

void Session::close() {
  await_answers();
  replace(nullptr, server());
}

/// Waits for what is being answered, for a moment at most. A socket that is closed while the server
/// still sends is reset, and the request to end the session, which the server has not read yet,
/// is lost with it: the ephemerals would stay for the session timeout.
void Session::await_answers() {
  constexpr std::chrono::milliseconds longest{60};
  monitor_.wait_until({}, Clock::now() + longest, [&](const Monitor::Held&) {
    return !state_->handle || state_->handle->calls.empty() || !is_connected(state_->state);
  });
}

std::string Session::server() {
  return monitor_.look([&](const Monitor::Held&) { return state_->server; });
}

/// One that is being replaced is not closed: the new one is there soon.
SessionState Session::state(const Monitor::Held& /*held*/) {
  const bool replaced = state_->opening && state_->state == SessionState::Closed;
  return replaced ? SessionState::Connecting : state_->state;
}

std::int64_t Session::session_id(const Monitor::Held& /*held*/) { return state_->session_id; }

int Session::negotiated_timeout() {
  return monitor_.look([&](const Monitor::Held&) { return state_->negotiated_timeout; });
}

BootClock::time_point Session::lease_end() {
  const auto lease = monitor_.look([&](const Monitor::Held&) { return state_->lease; });
  return lease ? lease->end() : BootClock::time_point();
}

std::string Session::connection_problem() {
  const auto text = server();
  if (text.empty()) return "";
  const auto file = monitor_.look([&](const Monitor::Held& held) {
    return state_->ever_connected && state_->credentials.empty() ? file_of_all_credentials(held)
                                                                 : "";
  });
  // A server says that it refuses a credential and hangs up: what was on its way to it by then
  // destroys its answer.
  const auto hint = fmt::format(
      "; every connection ended before the auth file {} was accepted: does it name a scheme that "
      "the servers do not know?",
      file);
  const auto failures = monitor_.look([](const Monitor::Held& held) { return tls_failures(held); });
  const auto refused = refused_answer();
  return why_unreachable(parse_connect_string(text), failures) + (file.empty() ? "" : hint) +
         (refused.empty() ? "" : "; " + refused);
}

void Session::open_again() {
  struct Done {
    Session& session;
    ~Done() {
      session.monitor_.change([&](const Monitor::Held&) { session.state_->opening = false; });
    }
  };
  const Done done{*this};
  open(server());
}

void Session::await_connection(const std::string& path, const std::stop_token& stop) {
  std::size_t refused = 0;
  const auto servers = parse_connect_string(server());
  const auto give_up = Clock::now() + settings_.connect_timeout;
  while (true) {
    SessionState now{};
    bool opens = false;
    bool patient = false;
    Clock::time_point deadline;
    // Several threads may wait: one of them opens, and no other sees the session half open.
    const bool seen = monitor_.wait_until(stop, give_up, [&](const Monitor::Held&) {
      if (state_->opening) return false;
      now = state_->state;
      opens = now == SessionState::Expired || (now == SessionState::Connecting && !state_->handle);
      state_->opening = opens;
      const auto calm = state_->ever_connected ? state_->lost + turmoil
                                               : state_->opened + settings_.connect_timeout;
      patient = Clock::now() < calm;
      deadline = patient ? std::min(calm, give_up) : give_up;
      return true;
    });
    if (opens) {
      open_again();
      continue;
    }
    if (stop.stop_requested()) throw Cancelled();
    if (!seen) throw ZkError(code::connection_loss, path);
    if (is_connected(now)) return;
    if (now == SessionState::Closed || now == SessionState::AuthFailed)
      throw ZkError(code::invalid_state, path);
    if (Clock::now() >= give_up) throw ZkError(code::connection_loss, path);
    // A new session is waited for, and an ensemble that has just lost a member. After that there is
    // one round over the servers: the C client fails what is queued at each failed attempt, which a
    // read without a purpose shows.
    const auto probe = patient ? nullptr : start_exists("/", Watch::none());
    bool refused_all = false;  // for TLS: what is wrong with a certificate stays wrong
    monitor_.wait_until(stop, deadline, [&](const Monitor::Held& held) {
      refused_all = tls_failed_everywhere(held, servers);
      return state_->state != SessionState::Connecting || refused_all || (probe && (*probe)(held));
    });
    if (refused_all && current_state() == SessionState::Connecting)
      throw ZkError(code::connection_loss, path);
    if (probe && ++refused >= servers.servers.size() && current_state() == SessionState::Connecting)
      throw ZkError(code::connection_loss, path);
  }
}

}  // namespace zksh
