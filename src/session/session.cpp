// Session: its phases, the news of the handle in use, and waiting for a connection.
#include "session/session.h"

#include "base/deferred_calls.h"
#include "base/digest.h"
#include "base/fd.h"
#include "base/monitor.h"
#include "client/connect_string.h"
#include "client/diagnose_connection.h"
#include "session/session_handle.h"
#include "session/session_library.h"
#include "session/session_threads.h"
#include "session/socket_interposer.h"

#include <fmt/core.h>

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>
#include <system_error>
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
  const auto from = session.monitor().with_lock([&](const Monitor::Held&) { return creations; });
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
  const DeferredCalls afterwards;
  const auto mailbox = monitor.with_lock([&](const Monitor::Held& held) -> Mailbox {
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
    : monitor_(session.monitor_), handle_(monitor_.with_lock([&](const Monitor::Held&) {
        auto* const open = session.state_->open_handle();
        if (open) ++open->uses;
        return open;
      })) {}

Session::Use::~Use() {
  if (!handle_) return;
  const bool awaited = monitor_.with_lock(
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
  return monitor_.with_lock([&](const Monitor::Held&) { return state_->server; });
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
  return monitor_.with_lock([&](const Monitor::Held&) {
    const auto* const open = state_->open_handle();
    return open ? open->negotiated_timeout : 0;
  });
}

BootClock::time_point Session::lease_end() {
  const auto lease = monitor_.with_lock([&](const Monitor::Held&) {
    const auto* const open = state_->open_handle();
    return open ? open->lease : nullptr;
  });
  return lease ? lease->end() : BootClock::time_point();
}

std::string Session::connection_problem() {
  const auto text = server();
  if (text.empty()) return "";
  const auto file = monitor_.with_lock([&](const Monitor::Held& held) {
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
  const auto failures =
      monitor_.with_lock([](const Monitor::Held& held) { return tls_failures(held); });
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
    const auto turn = monitor_.with_lock([&](const Monitor::Held& held) {
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
    const bool still = monitor_.with_lock([&](const Monitor::Held& held) {
      return state_->turn == turn && state(held) == SessionState::Connecting;
    });
    if (still && refused_all) throw ZkError(code::connection_loss, path);
    if (probe && ++refused >= servers.servers.size() && still)
      throw ZkError(code::connection_loss, path);
  }
}

namespace {

/// Whether nothing will come of a session any more.
bool is_dead(SessionState state) {
  return state == SessionState::Expired || state == SessionState::AuthFailed;
}

/// What became of a session that was asked for, when no server answered.
constexpr const char* kept = "; the session in use stays as it is";

}  // namespace

/// A handle that nobody else knows yet. Blocks while names resolve.
std::unique_ptr<Session::Handle> Session::make_handle(const std::string& server) {
  require_session_threads();
  auto fresh = std::make_unique<Handle>(*this, parse_connect_string(server));
  const auto& servers = fresh->servers;
  const int flags = ZOO_NO_LOG_CLIENTENV | (settings_.read_only ? ZOO_READONLY : 0);
  // Several servers are in their order already; the addresses of a single name are not.
  zoo_deterministic_conn_order(servers.servers.size() > 1 ? 1 : 0);
  fresh->zh = open_handle(monitor_, settings_.security, servers, Handle::on_event,
                          settings_.session_timeout_ms, fresh.get(), flags);
  if (!fresh->zh) {
    const int reason = errno;
    throw Error("cannot connect to " + (reason == ENOENT
                                            ? diagnose_connection(servers)
                                            : fmt::format("{}: {}", server, std::strerror(reason))),
                status::no_connection);
  }
  // Without this the C client resolves the names on every turn of its loop; now only to reconnect.
  zoo_set_servers_resolution_delay(fresh->zh, -1);
  fresh->opened = Clock::now();
  // The C client keeps them until it is connected, and sends them before anything else.
  for (const auto& credential : settings_.credentials) add_auth_to(fresh.get(), credential);
  return fresh;
}

void Session::open(const std::string& server) {
  parse_connect_string(server);
  end(monitor_.change([&](const Monitor::Held& held) {
    state_->server = server;
    return enter(held, Phase::Idle);
  }));
  want_session();
}

void Session::want_session() {
  const auto wanted = [&](const Monitor::Held&) { return state_->needs_opener(); };
  if (!monitor_.with_lock(wanted)) return;
  parse_connect_string(server());
  start_opener();
  monitor_.change([&](const Monitor::Held& held) {
    if (!wanted(held)) return;
    // The opener ends it: this may be one of its own threads.
    auto expired = std::move(state_->handle);
    enter(held, Phase::Opening);
    state_->handle = std::move(expired);
  });
}

void Session::start_opener() {
  const std::lock_guard lock(starting_);
  if (opener_.joinable()) return;
  try {
    opener_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
  } catch (const std::system_error& error) {
    throw Error(fmt::format("no session can be opened: a thread cannot be started ({})",
                            std::strerror(error.code().value())));
  }
}

/// The opener: all sessions but those of replace_session are opened here, one at a time.
void Session::serve(const std::stop_token& stop) {
  while (monitor_.wait(stop, [&](const Monitor::Held&) { return state_->phase == Phase::Opening; }))
    open_one(stop);
}

/// Tries to open a session, until there is one, nobody wants it any more, or the next attempt has
/// another server.
void Session::open_one(const std::stop_token& stop) {
  constexpr std::chrono::seconds between_attempts{1};
  std::unique_ptr<Handle> expired;
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
  end(std::move(expired));
  while (!stop.stop_requested()) {
    std::unique_ptr<Handle> fresh;
    std::exception_ptr problem;
    try {
      fresh = make_handle(server);
    } catch (...) {  // thrown by whoever waits for the session
      problem = std::current_exception();
    }
    std::size_t asked = 0;
    const bool over = monitor_.change([&](const Monitor::Held& held) {
      if (state_->turn != turn) return true;
      asked = state_->asked;
      if (fresh) {
        enter(held, Phase::Open, std::move(fresh));
        return true;
      }
      ++state_->failures;
      state_->problem = problem;
      return false;
    });
    end(std::move(fresh));  // somebody else has decided meanwhile
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
                        hopeless = tls_failed_everywhere(held, fresh->servers);
                        // Its credentials are the only requests that it has.
                        const bool ready = is_connected(fresh->state) && fresh->calls.empty();
                        return ready || hopeless || is_dead(fresh->state);
                      });
  if (stop.stop_requested()) throw Cancelled();
  const auto state = monitor_.with_lock([&](const Monitor::Held&) { return fresh->state; });
  if (!is_connected(state)) refuse(*fresh);
  before_end();
  // In two steps: whoever waits for the end of the session that was hears of it.
  auto old = monitor_.change([&](const Monitor::Held& held) { return enter(held, Phase::Closed); });
  auto other = monitor_.change([&](const Monitor::Held& held) {
    state_->server = server;
    return enter(held, Phase::Open, std::move(fresh));
  });
  end(std::move(old));
  end(std::move(other));
}

/// Says why a session could not be had.
void Session::refuse(const Handle& fresh) {
  SessionState state{};
  std::string end;
  monitor_.with_lock([&](const Monitor::Held&) {
    state = fresh.state;
    if (state_->phase == Phase::Open) end = kept;
  });
  if (state == SessionState::AuthFailed) {
    const auto why = why_settings_refused();
    throw Error("authentication failed" + (why.empty() ? "" : ": " + why) + end,
                status::not_authorised);
  }
  throw Error("no connection to " + problem_with(fresh.servers) + end, status::no_connection);
}

namespace {

union Address {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

/// As InetAddress.getHostAddress of Java writes it: an IPv6 address in full, without "::".
std::string host_text(const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.any.sa_family == AF_INET)
    return inet_ntop(AF_INET, &address.v4.sin_addr, text.data(), text.size());
  const auto* bytes = address.v6.sin6_addr.s6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&address.v6.sin6_addr))
    return inet_ntop(AF_INET, bytes + 12, text.data(), text.size());
  std::string host;
  for (std::size_t i = 0; i < 16; i += 2)
    host += fmt::format("{}{:x}", i == 0 ? "" : ":", bytes[i] << 8 | bytes[i + 1]);
  return host;
}

/// The address that this machine's packets to a server bear, unless they are translated on the way.
/// The C client keeps its socket to itself; but a socket of our own that is connected to the same
/// place gets the same address, and a datagram socket sends nothing for that.
std::string own_address(zhandle_t* zh) {
  Address server{};
  socklen_t size = sizeof server;
  if (!zookeeper_get_connected_host(zh, &server.any, &size)) return {};
  const Fd fd(socket(server.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  Address own{};
  socklen_t own_size = sizeof own;
  if (!fd || connect(fd.get(), &server.any, size) != 0 ||
      getsockname(fd.get(), &own.any, &own_size) != 0)
    return {};
  return host_text(own);
}

}  // namespace

Identity identity_of(const std::string& scheme, const std::string& credential) {
  if (scheme == "digest") return {.scheme = scheme, .id = digest_id(credential)};
  // What other schemes make of it is known to the servers alone.
  return {.scheme = scheme, .id = {}};
}

void Session::Handle::accepted(const Credential& credential) {
  if (credential.scheme == "ip") return;  // the server adds what it knows already
  session.monitor_.with_lock([&](const Monitor::Held&) {
    if (std::ranges::count(credentials, credential) == 0) credentials.push_back(credential);
  });
}

std::vector<Credential> Session::credentials() {
  return monitor_.with_lock([&](const Monitor::Held&) {
    const auto* const open = state_->open_handle();
    return open ? open->credentials : std::vector<Credential>();
  });
}

std::vector<Identity> Session::identities() {
  const Use on(*this);
  const bool connected = is_connected(current_state());
  if (!connected || !on) return {};
  std::vector<Identity> all;
  if (const auto own = own_address(on->zh); !own.empty())
    all.push_back({.scheme = "ip", .id = own});
  // The servers' name for it may be longer with Kerberos, whose realm they cut off or not.
  if (const auto& sasl = settings_.security.sasl; sasl.mechanism == "DIGEST-MD5")
    all.push_back({.scheme = "sasl", .id = sasl.user});
  for (const auto& [scheme, secret] : credentials()) {
    auto identity = identity_of(scheme, secret);
    if (std::ranges::count(all, identity) == 0) all.push_back(std::move(identity));
  }
  return all;
}

std::string Session::file_of_all_credentials(const Monitor::Held& held) const {
  return sent_others(held) ? "" : settings_.credentials_file;
}

/// Whether the session has sent other credentials than those of the settings.
bool Session::sent_others(const Monitor::Held& /*held*/) const {
  const auto* const open = state_->open_handle();
  return state_->phase == Phase::Refused || (open && open->other_credentials);
}

std::string Session::why_refused(const Monitor::Held& held) const {
  return sent_others(held) ? "" : why_settings_refused();
}

std::string Session::why_settings_refused() const {
  const auto& sasl = settings_.security.sasl;
  if (!sasl.mechanism.empty())
    return fmt::format(
        "the servers do not do SASL {}, or refuse {} or the password; correct it and "
        "start zksh again",
        sasl.mechanism, sasl.user.empty() ? "the user" : "the user " + sasl.user);
  const auto& file = settings_.credentials_file;
  if (file.empty()) return {};
  return fmt::format(
      "the servers do not know a scheme of the auth file {}, or refuse its credential, and every "
      "session that has it is dead; correct the file and start zksh again",
      file);
}

void Session::fail_authentication() {
  end(monitor_.change([&](const Monitor::Held& held) { return enter(held, Phase::Refused); }));
}

}  // namespace zksh
