// Work limits: bound the load that many requests put on the servers.
#pragma once

#include "base/monitor.h"

#include <cstddef>
#include <deque>
#include <optional>
#include <stop_token>

namespace zksh {

class Client;

/// Requests in flight near the servers: enough to hide the round trip; more would only fill their
/// queues.
inline constexpr std::size_t usual_window = 256;

struct WorkLimits {
  std::size_t window = 0;  ///< requests in flight; 0: as many as the link needs (FlightWindow)
  /// Requests per second; each operation of a transaction counts. 0: no limit.
  std::size_t rate = 0;
};

/// Limits the rate of requests. Used on one thread.
class Pace {
 public:
  Pace(Client& client, std::size_t rate) : client_(client), rate_(rate) {}

  /// Blocks until `count` more requests may be sent; throws Cancelled on a stop. Capacity not used
  /// within a tenth of a second is lost, so a pause is not followed by a burst.
  void take(std::size_t count, const std::stop_token& stop);

 private:
  Client& client_;
  std::size_t rate_;
  Clock::time_point next_{};  ///< when the next request may be sent
};

/// How much may be in flight: what a server answers during a round trip, so that it always has
/// work. That is the rate at which it answers times the round trip. The rate is estimated until
/// enough is in flight to measure it; the round trip is the shortest seen so far, since a busy
/// server's first ones are longer than the link's. If answers take longer than two round trips,
/// they wait for each other, or for those of other clients, to which this gives way. Used on one
/// thread.
class FlightWindow {
 public:
  struct Size {
    std::size_t least = usual_window;  ///< which is also enough near the servers
    std::size_t rate = 20'000;         ///< answers a second, until that is measured
    std::size_t fixed = 0;             ///< the user's; 0: as described
  };

  FlightWindow(Client& client, Size size) : client_(client), size_(size) {}

  std::size_t now();
  /// An answer has arrived after `took`; `in_flight` requests were out when its own was sent.
  void learn(std::size_t in_flight, Clock::duration took);

 private:
  std::size_t within_limits(double count) const;
  void estimate();

  Client& client_;
  Size size_;
  std::optional<std::size_t> now_{};
  bool is_measured_ = false;  ///< now_ is no estimate
};

/// The requests that may be in flight at first.
inline std::size_t window_of(Client& client, const WorkLimits& limits = {}) {
  return FlightWindow(client, {.fixed = limits.window}).now();
}

/// Sends a request for each item with `ask`, at most `window` of them ahead, and passes each item
/// with what `ask` returned to `take`, in order. Ends, and returns false, once `take` returns
/// false.
template <class Items, class Ask, class Take>
bool ask_in_order(Items& items, std::size_t window, Ask&& ask, Take&& take) {
  std::deque<decltype(ask(*items.begin()))> asked;
  auto next = items.begin();
  for (auto& item : items) {
    while (next != items.end() && asked.size() < window) asked.push_back(ask(*next++));
    if (!take(item, asked.front())) return false;
    asked.pop_front();
  }
  return true;
}

}  // namespace zksh
