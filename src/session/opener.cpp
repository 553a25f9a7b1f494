// Session's opener: the thread for what blocks: opening sessions, look-ups, questions to servers.
#include "client/four_letter_word.h"
#include "session/handle.h"
#include "session/marshalling.h"

#include <fmt/core.h>

#include <charconv>
#include <cstring>
#include <system_error>
#include <thread>

namespace zksh {

namespace {

/// How long to wait for an answer on a connection of its own: two round trips, or with TLS four, on
/// top of the server's own time.
std::chrono::nanoseconds patience_at(std::optional<std::chrono::nanoseconds> round_trip) {
  return std::chrono::seconds(1) + 4 * round_trip.value_or(std::chrono::nanoseconds(0));
}

/// What a server answers to a four-letter word; empty: nothing. `hosts`: what the user calls it.
/// Blocks for `patience` at most. Throws Cancelled.
std::string ask_word(const ServerAddress& server, std::string word, std::vector<std::string> hosts,
                     std::chrono::nanoseconds patience, const std::stop_token& stop) {
  constexpr std::size_t longest_answer = 65536;
  const auto answers =
      inquire({{.server = server, .word = std::move(word), .names = std::move(hosts)}},
              {.deadline = Clock::now() + patience, .most_bytes = longest_answer, .stop = stop});
  return answers.front().text;
}

/// What these servers, with numeric addresses, answer to a short request, by their addresses.
/// Blocks for `patience` at most. Throws Cancelled.
std::map<std::string, std::string> ask_all(const AddressNames& servers, const std::string& word,
                                           std::chrono::nanoseconds patience,
                                           const std::stop_token& stop) {
  constexpr std::size_t longest_answer = 256;
  std::vector<ServerQuestion> questions;
  for (auto at = servers.begin(); at != servers.end();) {
    ServerQuestion question{.server = parse_connect_string(at->first).servers.front(),
                            .word = word};
    for (const auto end = servers.upper_bound(at->first); at != end; ++at)
      question.names.push_back(parse_connect_string(at->second).servers.front().host);
    questions.push_back(std::move(question));
  }
  const auto answers = inquire(
      questions, {.deadline = Clock::now() + patience, .most_bytes = longest_answer, .stop = stop});
  std::map<std::string, std::string> texts;
  for (std::size_t i = 0; i < questions.size(); ++i)
    texts.emplace(questions[i].server.text(), answers[i].text);
  return texts;
}

/// A connect request for a session that has seen nothing, a sync, and the session's end.
std::string short_session(int timeout_ms) {
  constexpr std::size_t version_and_zxid = 4 + 8;
  std::string connect(version_and_zxid, '\0');
  add_number(connect, timeout_ms);
  connect.append(8, '\0');  // a new session
  add_text(connect, std::string(16, '\0'));
  std::string requests;
  add_text(requests, connect);
  add_text(requests, request_frame(1, operation::sync, path_request("", "/")));
  add_text(requests, request_frame(2, operation::close));
  return requests;
}

/// The last zxid in a server's answers to a short session; 0: it did not say; nullopt: it did not
/// let the session begin.
std::optional<std::int64_t> zxid_in(std::string_view answers) {
  AnswerReader from(answers);
  const auto greeting = from.text();
  if (from.broken() || flaw_of_greeting(answers.substr(0, 4 + greeting.size()), true) != nullptr)
    return std::nullopt;
  return std::max<std::int64_t>(0, answer_header(from.text()).zxid);
}

}  // namespace

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

/// Has the opener look for work; false if there is no thread for it.
bool Session::call_opener() {
  try {
    start_opener();
  } catch (const std::exception&) {  // it may not come through the C client's frames
    return false;
  }
  state_->opener.ring();
  return true;
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
    } catch (...) {  // rethrown where the session is awaited
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

/// The opener opens all sessions except those of replace_session, one at a time.
void Session::serve(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    state_->opener.await(stop, next_look_up());
    if (stop.stop_requested()) return;
    open_one(stop);
    look_up_again();
    try {
      ask_for_tick(stop);
      ask_for_modes(stop);
      ask_for_version(stop);
      ask_for_zxid(stop);
    } catch (const std::exception&) {
      // They remain unknown: there are no descriptors left, or zksh is about to end.
    }
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
    // If it is connected, it would leave the server without reporting an event.
    if (!hold.get() || is_unrecoverable(hold.get()) != ZOK ||
        is_connected(session_state(zoo_state(hold.get()))))
      return;
    monitor_.with_lock([&](const Monitor::Held&) { on->names = std::move(order.names); });
    // It compares lists without ports (3.8.0: addrvec_eq), and keeps the old one if the new one
    // looks the same and is as long: so a longer one is set in between.
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
  if (!address) return;
  const auto answer = ask_word(address->server(), "conf", on->hosts_of(address->server().text()),
                               patience_at(round_trip()), stop);
  if (answer.empty()) return;  // it is asked again
  const auto text = answer_field(answer, "tickTime");
  int tick = 0;  // it does not say
  std::from_chars(text.data(), text.data() + text.size(), tick);
  monitor_.with_lock([&](const Monitor::Held&) {
    known_servers().ticks[asked] = std::chrono::milliseconds(std::max(tick, 0));
  });
}

void Session::ask_for_modes(const std::stop_token& stop) {
  AddressNames servers;
  monitor_.with_lock([&](const Monitor::Held&) {
    const auto open = state_->open_handle();
    if (std::exchange(state_->wants_modes, false) && open) servers = open->names;
  });
  if (servers.empty()) return;
  std::set<std::string> found;
  for (const auto& [server, answer] : ask_all(servers, "isro", patience_at(round_trip()), stop))
    if (answer == "rw") found.insert(server);
  monitor_.with_lock([&](const Monitor::Held&) { known_servers().writable = std::move(found); });
}

/// For Handle::look_for_restored_servers.
void Session::ask_for_zxid(const std::stop_token& stop) {
  AddressNames servers;
  std::string text;
  int timeout = 0;
  monitor_.with_lock([&](const Monitor::Held&) {
    const auto open = state_->open_handle();
    if (!std::exchange(state_->wants_zxid, false) || !open) return;
    servers = open->names;
    text = state_->server;
    timeout = open->negotiated_timeout;
  });
  if (servers.empty()) return;
  std::optional<std::int64_t> last;
  for (const auto& [server, answers] :
       ask_all(servers, short_session(timeout), patience_at(round_trip()), stop))
    last = std::max(last, zxid_in(answers));
  if (!last) return;
  monitor_.with_lock([&](const Monitor::Held&) {
    auto& known = known_servers().zxids[text];
    known.learnt = Clock::now();
    known.last = *last;
  });
}

/// Whether the opener should ask for the version of the server with this address.
bool Session::wants_version_of(const Monitor::Held& /*held*/, const std::string& address) {
  return state_->wants_versions && !address.empty() && !known_servers().version_of(address);
}

bool Session::has_version(Handle* on, int major, int minor) {
  std::optional<ServerVersion> known;
  bool asks = false;
  monitor_.with_lock([&](const Monitor::Held& held) {
    state_->wants_versions = true;
    if (!on) return;
    known = known_servers().version_of(on->address);
    asks = wants_version_of(held, on->address);
  });
  if (asks) call_opener();
  return known && !(*known < ServerVersion{major, minor});
}

/// Asks the connected server for its version. The answer of a server that was left meanwhile does
/// not count: it may be another server by now.
void Session::ask_for_version(const std::stop_token& stop) {
  constexpr std::chrono::seconds pause{2};
  const auto on = open_handle();
  Clock::time_point lost;
  const auto address = monitor_.with_lock([&](const Monitor::Held& held) -> std::string {
    if (!on || !wants_version_of(held, on->address)) return "";
    lost = on->lost;
    return on->address;
  });
  if (address.empty()) return;
  const auto server = parse_connect_string(address).servers.front();
  const auto patience = patience_at(round_trip());
  const auto asked = Clock::now();
  const auto answer = ask_word(server, "srvr", on->hosts_of(address), patience, stop);
  // Its JVM may have paused: it remains unknown.
  if (answer.empty() && Clock::now() >= asked + patience) return;
  monitor_.change([&](const Monitor::Held&) {
    if (on->lost != lost || on->address != address) return;
    const bool is_unwell = answer.empty() || is_not_serving(answer);
    known_servers().versions[address] = {
        .version = server_version_in(answer_field(answer, "Zookeeper version")),
        .ask_again = is_unwell ? Clock::now() + pause : Clock::time_point::max()};
  });
}

}  // namespace zksh
