// Session: implements Client with the Apache C client's asynchronous calls.
#include "session/session.h"

#include "base/digest.h"
#include "base/fd.h"
#include "base/text.h"
#include "client/diagnose_connection.h"
#include "session/handle.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace zksh {

namespace {

/// How long servers may reject everybody after a connection was lost, while they elect a leader or
/// a server restarts.
constexpr std::chrono::seconds longest_election{2};

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

}  // namespace

std::shared_ptr<Session::Handle> Session::open_handle() {
  return monitor_.with_lock([&](const Monitor::Held&) { return state_->open_handle(); });
}

std::string client_library_version() { return ZOO_VERSION; }

void prepare_security(const Security& security) {
  if (security.tls.on) use_tls(security.tls);
  if (!security.sasl.mechanism.empty()) prepare_sasl(security.sasl);
}

Session::Session(Monitor& monitor, SessionSettings settings, std::string_view server,
                 EventSink sink)
    : monitor_(monitor),
      settings_(std::move(settings)),
      sink_(std::move(sink)),
      state_(std::make_unique<State>()) {
  if (!settings_.known_servers) settings_.known_servers = std::make_shared<KnownServers>();
  state_->server = without_mark(server);
  zoo_set_debug_level(static_cast<ZooLogLevel>(settings_.log_level));
  if (settings_.log_level > 0 && isatty(STDERR_FILENO) == 1) escape_log();
}

Session::~Session() { close(); }

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

/// Waits briefly for the answers that a handle is still owed after it was replaced.
void Session::await_answers(const Handle& old) {
  constexpr std::chrono::milliseconds longest{100};
  monitor_.wait_until({}, Clock::now() + longest, [&](const Monitor::Held&) {
    return old.calls == 0 || !is_connected(old.state);
  });
}

/// Closes a handle that was replaced.
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
  const auto on = last_events_ ? open_handle() : nullptr;
  const bool has_events = on && monitor_.with_lock([&](const Monitor::Held&) {
    on->is_ending = is_connected(on->state) && !on->ephemerals.empty();
    // The servers may call it expired before it is replaced below.
    if (on->is_ending) state_->closed = on->session_id;
    return on->is_ending;
  });
  if (has_events) {
    // The server's answer to the end of the session follows the events. A JVM may pause for
    // seconds, but with the rest this is less than what a signal leaves (Loop::leave).
    constexpr std::chrono::seconds patience{3};
    const auto ended = start_end(on);
    monitor_.wait_until({}, Clock::now() + patience, [&](const Monitor::Held& held) {
      return (*ended)(held) || !is_connected(on->state);
    });
    last_events_();
  }
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
  const auto shortest = on ? on->wire.socket().round_trip() : std::chrono::nanoseconds(0);
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
    return state_->wants_tick = true;
  });
  if (asks) call_opener();
  if (lease && tick && tick->count() > 0) lease->learn_tick(*tick);
  return lease;
}

Lease Session::lease() {
  const auto lease = present_lease();
  if (!lease) return {};
  return {.end = lease->end(),
          .timeout = std::chrono::duration_cast<std::chrono::milliseconds>(lease->timeout())};
}

BootClock::time_point Session::lease_end(const Monitor::Held&) {
  const auto open = state_->open_handle();
  return open && open->lease ? open->lease->end() : BootClock::time_point();
}

bool Session::lease_lasts(BootClock::duration reserve) {
  const auto lease = present_lease();
  return lease && lease->lasts(BootClock::now(), reserve,
                               round_trip().value_or(std::chrono::nanoseconds(0)));
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
  const auto failures = monitor_.with_lock([&](const Monitor::Held&) {
    std::map<std::string, std::string> all;
    if (!on) return all;
    for (const auto& [name, failure] : on->tls_failures) all.emplace(name, failure.reason);
    if (!on->sasl_problem.empty())
      for (const auto& server : servers.servers) all.emplace(server.text(), on->sasl_problem);
    return all;
  });
  const auto refused = refused_answer();
  return diagnose_connection(servers, failures) + hint + (refused.empty() ? "" : "; " + refused);
}

/// Counts a waiter for a connection while it lives, and tells when it has waited for long.
class Session::Wait {
 public:
  explicit Wait(Session& session) : session_(session) {
    session_.monitor_.with_lock([&](const Monitor::Held&) {
      if (session_.state_->waits++ == 0) session_.state_->waiting_since = begun_;
      session_.known_servers().waits.begin();
    });
    if (session_.wait_begins_) session_.wait_begins_();
  }
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;
  ~Wait() {
    session_.monitor_.with_lock([&](const Monitor::Held&) {
      --session_.state_->waits;
      session_.known_servers().waits.end();
    });
  }

  /// As Monitor::wait_until.
  template <class Ready>
  bool until(const std::stop_token& stop, Clock::time_point deadline, Ready&& ready) {
    constexpr std::chrono::milliseconds usual{100};  // for a server in the same building
    auto& monitor = session_.monitor_;
    if (session_.wait_lasts_ && !told_ && begun_ + usual < deadline) {
      if (monitor.wait_until(stop, begun_ + usual, ready)) return true;
      if (stop.stop_requested()) return false;
      told_ = true;
      session_.wait_lasts_();
    }
    return monitor.wait_until(stop, deadline, ready);
  }

 private:
  Session& session_;
  Clock::time_point begun_ = Clock::now();
  bool told_ = false;
};

/// Blocks until there is a handle, in any state.
void Session::await_handle(Wait& wait, const std::string& path, Clock::time_point give_up,
                           const std::stop_token& stop) {
  ensure_session();
  const auto failures = monitor_.change([&](const Monitor::Held&) {
    ++state_->asked;  // ends the opener's pause
    return state_->failures;
  });
  // A name that does not resolve yet may resolve soon, as in a new container.
  std::exception_ptr problem;
  const bool settled = wait.until(stop, give_up, [&](const Monitor::Held&) {
    if (state_->failures != failures) problem = state_->problem;
    return state_->phase != Phase::Opening || (problem && settings_.one_round);
  });
  if (stop.stop_requested()) throw Cancelled();
  if (problem && (!settled || settings_.one_round)) std::rethrow_exception(problem);
  if (!settled) throw ZkError(code::connection_loss, path);
}

std::optional<Clock::time_point> Session::awaited_since() {
  return monitor_.with_lock([&](const Monitor::Held& held) -> std::optional<Clock::time_point> {
    if (state_->waits == 0 || state(held) != SessionState::Connecting) return std::nullopt;
    if (!connected_server(held).empty()) return std::nullopt;
    return state_->waiting_since;
  });
}

std::optional<Clock::time_point> Session::waiting_since(bool to_one) {
  return monitor_.with_lock([&](const Monitor::Held&) -> std::optional<Clock::time_point> {
    const auto& waits = known_servers().waits;
    if (waits.count == 0) return std::nullopt;
    return to_one ? std::max(waits.since, waits.ended) : waits.since;
  });
}

void Session::await_connection(const std::string& path, const std::stop_token& stop) {
  const auto is_ready = [&](const Monitor::Held& held) {
    const auto open = state_->open_handle();
    return open && open->is_ready(held);
  };
  if (monitor_.with_lock(is_ready)) return;
  if (settings_.as_zkcli && is_dead(current_state())) throw ZkError(code::invalid_state, path);
  Wait wait(*this);
  std::size_t refused = 0;
  const auto give_up = Clock::now() + settings_.connect_timeout;
  while (true) {
    await_handle(wait, path, give_up, stop);
    SessionState now{};
    bool patient = false;
    Clock::time_point deadline;
    ConnectString servers;
    const auto turn = monitor_.with_lock([&](const Monitor::Held& held) {
      now = state(held);
      if (const auto open = state_->open_handle()) {
        servers = open->servers;
        const auto patient_until = open->ever_connected  ? open->lost + longest_election
                                   : settings_.one_round ? open->opened
                                                         : open->opened + settings_.connect_timeout;
        patient = Clock::now() < patient_until;
        deadline = patient ? std::min(patient_until, give_up) : give_up;
      }
      return state_->turn;
    });
    if (monitor_.with_lock(is_ready)) return;
    if (is_dead(now) && settings_.as_zkcli)
      throw ZkError(now == SessionState::Expired ? code::session_expired : code::auth_failed, path);
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
    wait.until(stop, deadline, [&](const Monitor::Held& held) {
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
    state_->server = without_mark(server);
    return enter(held, Phase::Idle);
  }));
  ensure_session();
}

void Session::ensure_session() {
  const auto wanted = [&](const Monitor::Held&) { return state_->needs_opener(); };
  if (!monitor_.with_lock(wanted)) return;
  const bool blocks = has_names(parse_connect_string(server()));
  if (blocks) start_opener();
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

/// Opens a session on this thread, which is faster; only if no name must be looked up. False if
/// that failed; the opener then tries again.
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
    state_->server = without_mark(server);
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

}  // namespace

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

std::int64_t Session::seen_more(const Monitor::Held& held) const {
  return of_handle(held, &Handle::seen_more);
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

}  // namespace zksh
