// RefusalReport: says at once why no server can be connected to, while zksh goes on trying.
#include "shell/refusal_report.h"

#include "client/diagnose_connection.h"

#include <chrono>

namespace zksh {

void RefusalReport::wait_begins() {
  const std::lock_guard lock(mutex_);
  if (looking_ || reported_) return;
  looking_ = true;
  thread_ = std::jthread([this](const std::stop_token& stop) { look(stop); });
}

void RefusalReport::look(const std::stop_token& stop) {
  // Longer than a server in the same building takes.
  constexpr std::chrono::milliseconds patience{100};
  auto& monitor = session_.monitor();
  monitor.wait_until(stop, Clock::now() + patience,
                     [&](const Monitor::Held& held) { return is_connected(session_.state(held)); });
  const auto is_awaited = [&] { return !stop.stop_requested() && session_.awaited_since(); };
  const auto refusal =
      is_awaited() ? refusal_by_all(parse_connect_string(session_.server())) : std::string();
  const bool reports = !refusal.empty() && is_awaited();
  if (reports) report_(refusal);
  const std::lock_guard lock(mutex_);
  looking_ = false;
  reported_ = reported_ || reports;
}

}  // namespace zksh
