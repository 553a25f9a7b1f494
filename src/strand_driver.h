// StrandDriver: any number of strands, driven by one thread.
#pragma once

#include "flow.h"

#include <cstddef>
#include <set>
#include <stop_token>
#include <unordered_map>
#include <utility>
#include <vector>

namespace zksh {

/// Waits on the Monitor until any of its strands can go on, and runs those. What a change costs
/// does not grow with the number of strands, as long as they wait for different subjects. Used by
/// one thread.
class StrandDriver {
 public:
  explicit StrandDriver(Monitor& monitor) : monitor_(monitor) {}

  /// A strand that has begun; it outlives the driver's run.
  void add(Strand& strand) { strands_.push_back(&strand); }
  /// Blocks until every strand has ended. A stop cancels them all, once; what they then do to clear
  /// up is still waited for. What a flow throws is left to its Strand::result.
  void run(std::stop_token stop);

 private:
  /// The strands that wait, by the subjects that they wait for, and those that need not any more.
  struct Waiting {
    std::unordered_multimap<const void*, Strand*> by_subject;
    std::vector<Strand*> ready;

    void hear(const Monitor::Held& held, const void* subject);
    void move_ready(const Monitor::Held& held, const void* subject);
    void move_all_ready(const Monitor::Held& held);
  };
  using Deadline = std::pair<Clock::time_point, Strand*>;

  void go_on(Strand& strand);
  Clock::time_point next_deadline() const;

  Monitor& monitor_;
  std::vector<Strand*> strands_;
  Guarded<Waiting> waiting_;
  std::set<Deadline> deadlines_;  ///< of those that wait
};

}  // namespace zksh
