// StrandDriver: any number of strands, driven by one thread.
#include "strand_driver.h"

#include <algorithm>

namespace zksh {

Clock::time_point StrandDriver::next_deadline() const {
  auto next = Strand::never;
  for (const auto* strand : running_) next = std::min(next, strand->deadline());
  return next;
}

void StrandDriver::run(std::stop_token stop) {
  std::vector<Strand*> ready;
  while (!running_.empty()) {
    const auto find_ready = [&](const Monitor::Held& held) {
      for (auto* strand : running_)
        if (strand->can_go_on(held)) ready.push_back(strand);
      return !ready.empty();
    };
    ready.clear();
    monitor_.wait_until(stop, next_deadline(), find_ready);
    if (stop.stop_requested()) {
      for (auto* strand : running_) strand->cancel();
      stop = {};
    }
    for (auto* strand : ready) strand->go_on();
    if (std::ranges::any_of(ready, [](const Strand* strand) { return strand->ended(); }))
      std::erase_if(running_, [](const Strand* strand) { return strand->ended(); });
  }
}

}  // namespace zksh
