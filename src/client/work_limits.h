// Work limits: bound the load that many requests put on the servers.
#pragma once

#include "client/client.h"

#include <cstddef>
#include <deque>
#include <stop_token>

namespace zksh {

/// Requests in flight: enough to hide the round trip; more would only fill the server's queue.
inline constexpr std::size_t usual_window = 256;

struct WorkLimits {
  std::size_t window = usual_window;  ///< requests in flight
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
