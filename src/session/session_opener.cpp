// Session: opening handles: the opener's, and those that are to replace one in use.
#include "client/connect_string.h"
#include "client/diagnose_connection.h"
#include "session/session.h"
#include "session/session_handle.h"
#include "session/session_opening.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace zksh {
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
  if (!monitor_.look(wanted)) return;
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
    if (monitor_.look([&](const Monitor::Held&) { return state_->turn != turn; })) return;
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
  const auto state = monitor_.look([&](const Monitor::Held&) { return fresh->state; });
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
  monitor_.look([&](const Monitor::Held&) {
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

}  // namespace zksh
