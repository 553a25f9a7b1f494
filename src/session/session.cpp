// Session: its phases, the news of the handle in use, and waiting for a connection.
#include "session/session.h"

#include "base/afterwards.h"
#include "base/monitor.h"
#include "client/connect_string.h"
#include "client/diagnose_connection.h"
#include "session/known_servers.h"
#include "session/session_handle.h"
#include "session/session_library.h"
#include "session/wire_guard.h"

#include <fmt/core.h>

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

}  // namespace

Session::Handle::~Handle() {
  NoWaiting::refuse("zookeeper_close");
  hang_up_handshakes();
  if (zh) zookeeper_close(zh);
  session.monitor_.change([&](const Monitor::Held& held) {
    for (Call* call : std::exchange(calls, {})) {
      call->settle_error(held, code::closing);
      delete call;
    }
  });
}

bool Session::Handle::take_note(const Monitor::Held& /*held*/, SessionState now, zhandle_t* from) {
  if (now == state) return false;
  if (is_connected(state)) lost = Clock::now();
  state = now;
  if (is_connected(now)) {
    ever_connected = true;
    session_id = zoo_client_id(from)->client_id;
    negotiated_timeout = zoo_recv_timeout(from);
    lease = lease_of(session_id);
    creations = creations_of(session_id);
  }
  return true;
}

std::int64_t Session::Handle::czxid_of(const std::string& path) {
  const auto from = session.monitor().look([&](const Monitor::Held&) { return creations; });
  return from ? from->take(path) : 0;
}

void Session::Handle::on_event(zhandle_t* zh, int type, int state, const char* path,
                               void* context) {
  const NoWaiting no_waiting;
  auto& handle = *static_cast<Handle*>(context);
  auto& session = handle.session;
  session.monitor_.change([&](const Monitor::Held& held) {
    Event event{.type = event_type(type), .path = path ? path : "", .state = {}, .printed = true};
    if (type != ZOO_SESSION_EVENT) handle.watches_fired(held, type, event.path);
    if (event.type == Event::Type::Session) {
      if (type != ZOO_SESSION_EVENT || !handle.take_note(held, session_state(state), zh)) return;
      event.printed = false;
      event.path.clear();
    }
    event.state = handle.state;
    // Else it is not in use yet, or these are the last words of one that was replaced.
    if (session.state_->open_handle() == &handle) session.sink_(held, event);
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

void Session::Handle::watches_fired(const Monitor::Held& /*held*/, int type,
                                    const std::string& path) {
  if (type != ZOO_CHILD_EVENT) watchers.fired(path, WatchKind::OfData);
  if (type == ZOO_CHILD_EVENT || type == ZOO_DELETED_EVENT)
    watchers.fired(path, WatchKind::OfChildren);
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

Session::Use::Use(Session& session)
    : monitor_(session.monitor_), handle_(monitor_.look([&](const Monitor::Held&) {
        auto* const open = session.state_->open_handle();
        if (open) ++open->uses;
        return open;
      })) {}

Session::Use::~Use() {
  if (!handle_) return;
  const bool awaited = monitor_.look(
      [&](const Monitor::Held&) { return --handle_->uses == 0 && handle_->out_of_use; });
  // It may be gone by now.
  if (awaited) monitor_.change_of(this, [](const Monitor::Held&) {});
}

Session::Session(Monitor& monitor, SessionSettings settings, std::string server, EventSink sink)
    : monitor_(monitor),
      settings_(std::move(settings)),
      sink_(std::move(sink)),
      state_(std::make_unique<State>()) {
  if (!settings_.known_servers) settings_.known_servers = std::make_shared<KnownServers>();
  state_->server = std::move(server);
  zoo_set_debug_level(static_cast<ZooLogLevel>(settings_.log_level));
}

Session::~Session() { close(); }

/// The one way from phase to phase. Returns the handle that was in use, to be ended when the
/// monitor is free.
std::unique_ptr<Session::Handle> Session::enter(const Monitor::Held& held, Phase phase,
                                                std::unique_ptr<Handle> fresh) {
  auto& known = *state_;
  ++known.turn;
  known.phase = phase;
  auto old = std::exchange(known.handle, std::move(fresh));
  if (phase == Phase::Refused)
    sink_(held, {.path = {}, .state = SessionState::AuthFailed});
  else if (old)
    sink_(held, {.path = {}, .state = SessionState::Closed});
  // What it heard of before it was in use.
  if (known.handle && known.handle->state != SessionState::Connecting)
    sink_(held, {.path = {}, .state = known.handle->state});
  return old;
}

/// Closes a handle that is out of use. Waits for what is being answered, for a moment at most. A
/// socket that is closed while the server still sends is reset, and the request to end the session,
/// which the server has not read yet, is lost with it: the ephemerals would stay for the session
/// timeout. The C client forgets in memory what is not answered then.
void Session::end(std::unique_ptr<Handle> old) {
  if (!old) return;
  constexpr std::chrono::milliseconds longest{100};
  monitor_.wait({}, [&](const Monitor::Held&) {
    old->out_of_use = true;
    return old->uses == 0;
  });
  monitor_.wait_until({}, Clock::now() + longest, [&](const Monitor::Held&) {
    return old->calls.empty() || !is_connected(old->state);
  });
}

std::unique_ptr<Client> Session::another() {
  return std::make_unique<Session>(monitor_, settings_, server(),
                                   [](const Monitor::Held& /*held*/, const Event& /*event*/) {});
}

void Session::close() {
  end(monitor_.change([&](const Monitor::Held& held) { return enter(held, Phase::Closed); }));
}

std::string Session::server() {
  return monitor_.look([&](const Monitor::Held&) { return state_->server; });
}

SessionState Session::state(const Monitor::Held& /*held*/) {
  if (const auto* const open = state_->open_handle()) return open->state;
  if (state_->phase == Phase::Closed) return SessionState::Closed;
  return state_->phase == Phase::Refused ? SessionState::AuthFailed : SessionState::Connecting;
}

bool Session::between_sessions(const Monitor::Held& /*held*/) { return !state_->open_handle(); }

std::int64_t Session::session_id(const Monitor::Held& /*held*/) {
  const auto* const open = state_->open_handle();
  return open ? open->session_id : 0;
}

int Session::negotiated_timeout() {
  return monitor_.look([&](const Monitor::Held&) {
    const auto* const open = state_->open_handle();
    return open ? open->negotiated_timeout : 0;
  });
}

BootClock::time_point Session::lease_end() {
  const auto lease = monitor_.look([&](const Monitor::Held&) {
    const auto* const open = state_->open_handle();
    return open ? open->lease : nullptr;
  });
  return lease ? lease->end() : BootClock::time_point();
}

std::string Session::connection_problem() {
  const auto text = server();
  if (text.empty()) return "";
  const auto file = monitor_.look([&](const Monitor::Held& held) {
    const auto* const open = state_->open_handle();
    return open && open->ever_connected && open->credentials.empty() ? file_of_all_credentials(held)
                                                                     : "";
  });
  // A server says that it refuses a credential and hangs up: what was on its way to it by then
  // destroys its answer.
  const auto hint = fmt::format(
      "; every connection ended before the auth file {} was accepted: does it name a scheme that "
      "the servers do not know?",
      file);
  return problem_with(parse_connect_string(text), file.empty() ? "" : hint);
}

std::string Session::problem_with(const ConnectString& servers, const std::string& hint) {
  const auto failures = monitor_.look([](const Monitor::Held& held) { return tls_failures(held); });
  const auto refused = refused_answer();
  return diagnose_connection(servers, failures) + hint + (refused.empty() ? "" : "; " + refused);
}

/// Blocks until there is a handle, in whatever state.
void Session::await_handle(const std::string& path, Clock::time_point give_up,
                           const std::stop_token& stop) {
  want_session();
  const auto failures = monitor_.change([&](const Monitor::Held&) {
    ++state_->asked;  // the opener makes no pause then
    return state_->failures;
  });
  std::exception_ptr problem;
  const bool settled = monitor_.wait_until(stop, give_up, [&](const Monitor::Held&) {
    if (state_->failures != failures) problem = state_->problem;
    return state_->phase != Phase::Opening || problem;
  });
  if (stop.stop_requested()) throw Cancelled();
  if (!settled) throw ZkError(code::connection_loss, path);
  if (problem) std::rethrow_exception(problem);
}

void Session::await_connection(const std::string& path, const std::stop_token& stop) {
  if (is_connected(current_state())) return;
  std::size_t refused = 0;
  const auto give_up = Clock::now() + settings_.connect_timeout;
  while (true) {
    await_handle(path, give_up, stop);
    SessionState now{};
    bool patient = false;
    Clock::time_point deadline;
    ConnectString servers;
    const auto turn = monitor_.look([&](const Monitor::Held& held) {
      now = state(held);
      if (const auto* const open = state_->open_handle()) {
        servers = open->servers;
        const auto calm =
            open->ever_connected ? open->lost + turmoil : open->opened + settings_.connect_timeout;
        patient = Clock::now() < calm;
        deadline = patient ? std::min(calm, give_up) : give_up;
      }
      return state_->turn;
    });
    if (is_connected(now)) return;
    if (now == SessionState::Closed || now == SessionState::AuthFailed)
      throw ZkError(code::invalid_state, path);
    if (Clock::now() >= give_up) throw ZkError(code::connection_loss, path);
    if (now == SessionState::Expired || servers.servers.empty()) continue;
    // A new session is waited for, and an ensemble that has just lost a member. After that there is
    // one round over the servers: the C client fails what is queued at each failed attempt, which a
    // read without a purpose shows.
    const auto probe = patient ? nullptr : start_exists("/", Watch::none());
    bool refused_all = false;  // for TLS: what is wrong with a certificate stays wrong
    monitor_.wait_until(stop, deadline, [&](const Monitor::Held& held) {
      refused_all = tls_failed_everywhere(held, servers);
      return state_->turn != turn || state(held) != SessionState::Connecting || refused_all ||
             (probe && (*probe)(held));
    });
    if (stop.stop_requested()) throw Cancelled();
    const bool still = monitor_.look([&](const Monitor::Held& held) {
      return state_->turn == turn && state(held) == SessionState::Connecting;
    });
    if (still && refused_all) throw ZkError(code::connection_loss, path);
    if (probe && ++refused >= servers.servers.size() && still)
      throw ZkError(code::connection_loss, path);
  }
}

}  // namespace zksh
