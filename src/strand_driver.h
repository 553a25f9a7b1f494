// StrandDriver: any number of strands, driven by one thread.
#pragma once

#include "flow.h"

#include <cstddef>
#include <stop_token>
#include <vector>

namespace zksh {

/// Waits on the Monitor until any of its strands can go on, and runs those. Used by one thread.
class StrandDriver {
 public:
  explicit StrandDriver(Monitor& monitor) : monitor_(monitor) {}

  /// A strand that has begun; it outlives the driver's run.
  void add(Strand& strand) { running_.push_back(&strand); }
  /// Blocks until every strand has ended. A stop cancels them all, once; what they then do to clear
  /// up is still waited for. What a flow throws is left to its Strand::result.
  void run(std::stop_token stop);

 private:
  Clock::time_point next_deadline() const;

  Monitor& monitor_;
  std::vector<Strand*> running_;
};

}  // namespace zksh
