// Work limits: bound the load that a command of many requests puts on the servers.
#pragma once

#include "client/client.h"

#include <cstddef>
#include <stop_token>

namespace zksh {

struct WorkLimits {
  /// Requests in flight: enough to hide the round trip; more would only fill the server's queue.
  std::size_t window = 256;
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

}  // namespace zksh
