// RefusalReport: says at once why no server can be connected to, while zksh goes on trying.
#include "shell/refusal_report.h"

#include "client/diagnose_connection.h"

namespace zksh {

void RefusalReport::look() {
  const std::lock_guard lock(mutex_);
  if (looking_ || reported_) return;
  looking_ = true;
  thread_ = std::jthread([this](const std::stop_token& stop) { ask(stop); });
}

void RefusalReport::ask(const std::stop_token& stop) {
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
