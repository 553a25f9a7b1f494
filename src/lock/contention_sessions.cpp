// ContentionSessions: the sessions over which contenders are spread.
#include "lock/contention_sessions.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>

namespace zksh {
namespace {

/// How long a further session may take to be connected when others are.
constexpr std::chrono::seconds most_of_a_wait{5};

}  // namespace

ContentionSessions::ContentionSessions(Client& own, std::size_t count, const std::stop_token& stop)
    : own_(own) {
  own_.await_connection("/", stop);
  clients_.push_back(&own_);
  try {
    open(count);
    await_all(stop);
    authenticate(stop);
  } catch (...) {  // thrown on when the others are closed
    close();
    throw;
  }
}

ContentionSessions::~ContentionSessions() { close(); }

/// They connect at the same time.
void ContentionSessions::open(std::size_t count) {
  clients_.reserve(count);
  further_.reserve(count);
  while (clients_.size() < count) {
    auto& client = *further_.emplace_back(own_.another());
    clients_.push_back(&client);
    client.open(own_.server());
  }
}

void ContentionSessions::await_all(const std::stop_token& stop) {
  auto& monitor = own_.monitor();
  const auto connected = [&](const Monitor::Held& held) {
    return static_cast<std::size_t>(std::ranges::count_if(
        clients_, [&](Client* client) { return is_connected(client->state(held)); }));
  };
  std::size_t so_far = 0;
  while (so_far < clients_.size()) {
    // As long as one after the other comes, the rest is waited for.
    const bool more =
        monitor.wait_until(stop, Clock::now() + most_of_a_wait,
                           [&](const Monitor::Held& held) { return connected(held) > so_far; });
    if (stop.stop_requested()) throw Cancelled();
    so_far = monitor.look(connected);
    if (!more)
      throw Error(fmt::format("only {} of {} sessions were let in: a server takes maxClientCnxns "
                              "connections from one address, 60 unless it is configured otherwise "
                              "(--sessions asks for fewer)",
                              so_far, clients_.size()),
                  status::server_refused);
  }
}

/// The further ones may do what the own one may.
void ContentionSessions::authenticate(const std::stop_token& stop) {
  const auto credentials = own_.credentials();
  for (const auto& client : further_)
    for (const auto& [scheme, secret] : credentials) client->add_auth(scheme, secret, stop);
}

std::set<std::int64_t> ContentionSessions::ids() const {
  std::set<std::int64_t> ids;
  for (auto* client : clients_) ids.insert(client->session_id());
  return ids;
}

void ContentionSessions::close() {
  std::vector<std::jthread> threads;
  threads.reserve(further_.size());
  for (const auto& client : further_) {
    try {
      threads.emplace_back([&client] { client->close(); });
    } catch (const std::system_error&) {  // no thread is left for it
      client->close();
    }
  }
  threads.clear();
  further_.clear();
}

}  // namespace zksh
