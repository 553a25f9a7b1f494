// Patient connection: waits for a connection beyond the connect timeout.
#include "client/patient_connection.h"

#include "client/client.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace zksh {
namespace {

using namespace std::chrono_literals;

constexpr auto between_attempts = 1s;

/// False if no server answered in time.
bool try_connection(Client& client, const std::string& path, const std::stop_token& stop) {
  try {
    client.await_connection(path, stop);
    return true;
  } catch (const ZkError& error) {
    if (error.code() != code::connection_loss) throw;
  } catch (const Error& error) {  // no server's name resolves
    if (error.exit_status() != status::no_connection) throw;
  }
  return false;
}

void await_until(Client& client, const std::string& path, Clock::time_point deadline,
                 const std::stop_token& stop) {
  while (!try_connection(client, path, stop)) {
    if (Clock::now() >= deadline) throw ZkError(code::connection_loss, path);
    client.monitor().wait_until(
        stop, Clock::now() + between_attempts,
        [&](const Monitor::Held& held) { return is_connected(client.state(held)); });
    if (stop.stop_requested()) throw Cancelled();
  }
}

}  // namespace

void await_connection_patiently(Client& client, const std::string& path,
                                const std::stop_token& stop) {
  await_until(client, path, Clock::time_point::max(), stop);
}

void await_reconnection(Client& client, const std::string& path, Clock::time_point last_answer,
                        const std::stop_token& stop) {
  // The server chooses the timeout; do not wait for a month.
  const auto patience = std::clamp<std::chrono::milliseconds>(
      std::chrono::milliseconds(client.negotiated_timeout()), 10s, 60s);
  if (Clock::now() >= last_answer + patience) throw ZkError(code::connection_loss, path);
  await_until(client, path, last_answer + patience, stop);
}

bool is_connection_failure(int code) {
  constexpr std::array failures{code::connection_loss, code::operation_timeout,
                                code::session_expired, code::session_moved,
                                code::closing,         code::invalid_state};
  return std::ranges::find(failures, code) != failures.end();
}

bool is_repeatable_failure(int code) {
  return code != code::closing && is_connection_failure(code);
}

}  // namespace zksh
