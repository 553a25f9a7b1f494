// Work limits: how hard a command that sends many requests may press the servers.
#pragma once

#include "client/client.h"

#include <cstddef>
#include <stop_token>

namespace zksh {

struct WorkLimits {
  /// Requests that wait for their answers at a time: enough to hide the round trip; more only fills
  /// the server's queue.
  std::size_t window = 256;
  /// Requests a second, where each operation of a transaction counts; 0: any number.
  std::size_t rate = 0;
};

/// Keeps a stream of requests below a rate. Used on one thread.
class Pace {
 public:
  Pace(Client& client, std::size_t rate) : client_(client), rate_(rate) {}

  /// Blocks until `count` more requests may be sent; throws Cancelled on a stop. What was not used
  /// in a tenth of a second is lost: there are no bursts after a pause.
  void take(std::size_t count, const std::stop_token& stop);

 private:
  Client& client_;
  std::size_t rate_;
  Clock::time_point next_{};  ///< when the next request may go
};

}  // namespace zksh
