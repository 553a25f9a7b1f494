// StrandDriver: any number of strands, driven by one thread.
#include "strand_driver.h"

#include <algorithm>

namespace zksh {

void StrandDriver::Waiting::move_ready(const Monitor::Held& held, const void* subject) {
  const auto [first, last] = by_subject.equal_range(subject);
  for (auto at = first; at != last;) {
    if (at->second->can_go_on(held)) {
      ready.push_back(at->second);
      at = by_subject.erase(at);
    } else {
      ++at;
    }
  }
}

void StrandDriver::Waiting::move_all_ready(const Monitor::Held& held) {
  std::erase_if(by_subject, [&](const auto& entry) {
    if (!entry.second->can_go_on(held)) return false;
    ready.push_back(entry.second);
    return true;
  });
}

void StrandDriver::Waiting::hear(const Monitor::Held& held, const void* subject) {
  if (!subject) return move_all_ready(held);
  move_ready(held, subject);
  move_ready(held, nullptr);  // those that wait for anything
}

Clock::time_point StrandDriver::next_deadline() const {
  return deadlines_.empty() ? Strand::never : deadlines_.begin()->first;
}

void StrandDriver::go_on(Strand& strand) {
  deadlines_.erase({strand.deadline(), &strand});
  strand.go_on();
  if (strand.ended()) {
    std::erase(strands_, &strand);
    return;
  }
  if (strand.deadline() != Strand::never) deadlines_.insert({strand.deadline(), &strand});
  monitor_.look([&](const Monitor::Held& held) {
    auto& waiting = waiting_(held);
    if (strand.can_go_on(held))
      waiting.ready.push_back(&strand);  // what it waits for came before it was listened for
    else
      waiting.by_subject.emplace(strand.subject(), &strand);
  });
}

void StrandDriver::run(std::stop_token stop) {
  const Monitor::Listener listener(monitor_, [&](const Monitor::Held& held, const void* subject) {
    waiting_(held).hear(held, subject);
  });
  monitor_.look([&](const Monitor::Held& held) { waiting_(held).ready = strands_; });
  while (!strands_.empty()) {
    monitor_.wait_until(stop, next_deadline(),
                        [&](const Monitor::Held& held) { return !waiting_(held).ready.empty(); });
    if (stop.stop_requested()) {
      for (auto* strand : strands_) strand->cancel();
      stop = {};
    }
    const auto ready = monitor_.look([&](const Monitor::Held& held) {
      auto& waiting = waiting_(held);
      if (Clock::now() >= next_deadline()) waiting.move_all_ready(held);
      return std::exchange(waiting.ready, {});
    });
    for (auto* strand : ready) go_on(*strand);
  }
}

}  // namespace zksh
