// Work limits: bound the load that many requests put on the servers.
#include "client/work_limits.h"

#include "base/error.h"
#include "client/client.h"

#include <algorithm>
#include <chrono>

namespace zksh {
namespace {

using Seconds = std::chrono::duration<double>;

}  // namespace

std::size_t FlightWindow::within_limits(double count) const {
  constexpr std::size_t most = 65536;
  return std::clamp(static_cast<std::size_t>(std::min<double>(count, most)), size_.least, most);
}

void FlightWindow::estimate() {
  if (const auto round_trip = client_.round_trip())
    now_ = within_limits(static_cast<double>(size_.rate) * Seconds(*round_trip).count());
}

std::size_t FlightWindow::now() {
  if (size_.fixed > 0) return size_.fixed;
  if (!now_) estimate();
  return now_.value_or(size_.least);
}

void FlightWindow::learn(std::size_t in_flight, Clock::duration took) {
  if (size_.fixed > 0) return;
  const auto round_trip = client_.round_trip();
  if (!round_trip || took.count() <= 0) return;
  if (!is_measured_) estimate();
  const auto enough =
      within_limits(2 * static_cast<double>(in_flight) * Seconds(*round_trip).count() /
                    std::max<double>(Seconds(took).count(), Seconds(*round_trip).count()));
  const bool was_full = in_flight + in_flight / 4 >= now();
  if (enough <= now() && !was_full) return;
  now_ = enough;
  is_measured_ = true;
}

void Pace::take(std::size_t count, const std::stop_token& stop) {
  using namespace std::chrono_literals;
  if (rate_ == 0) return;
  const auto now = Clock::now();
  next_ = std::max(next_, now - 100ms);
  if (next_ > now) client_.monitor().pause_until(stop, next_);
  next_ += std::chrono::nanoseconds(
      static_cast<std::int64_t>(static_cast<double>(count) * 1e9 / static_cast<double>(rate_)));
}

}  // namespace zksh
