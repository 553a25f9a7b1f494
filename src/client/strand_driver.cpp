// StrandDriver: any number of strands, driven one at a time, wherever an answer comes.
#include "client/strand_driver.h"

#include "base/afterwards.h"

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

Clock::time_point StrandDriver::Waiting::next_deadline() const {
  return deadlines.empty() ? Strand::never : deadlines.begin()->first;
}

/// Whether the thread of `run` has something to do.
bool StrandDriver::Waiting::needs_driver() const {
  if (!work.empty()) return true;
  return !driven && (!ready.empty() || left == 0 || next_deadline() < sleeps_until);
}

void StrandDriver::hear(const Monitor::Held& held, const void* subject) {
  if (subject == this) return;  // its own news, for the thread of `run`
  auto& waiting = waiting_(held);
  waiting.hear(held, subject);
  auto* const afterwards = Afterwards::here();
  if (!afterwards || waiting.driven || waiting.ready.empty()) return;
  waiting.driven = true;
  afterwards->add([this] { drive(); });
}

/// Runs the strands that can go on until there is none. `driven` was set by this thread.
void StrandDriver::drive() {
  for (;;) {
    const auto ready = monitor_.look(
        [&](const Monitor::Held& held) { return std::exchange(waiting_(held).ready, {}); });
    for (auto* strand : ready) go_on(*strand);
    if (!ready.empty()) continue;
    const bool done = monitor_.change_of(this, [&](const Monitor::Held& held) {
      auto& waiting = waiting_(held);
      if (!waiting.ready.empty()) return false;
      waiting.driven = false;
      return true;
    });
    if (done) return;
  }
}

void StrandDriver::go_on(Strand& strand) {
  monitor_.look([&](const Monitor::Held& held) {
    waiting_(held).deadlines.erase({strand.deadline(), &strand});
  });
  strand.go_on();
  monitor_.look([&](const Monitor::Held& held) {
    auto& waiting = waiting_(held);
    if (strand.ended()) {
      --waiting.left;
      return;
    }
    if (strand.deadline() != Strand::never) waiting.deadlines.insert({strand.deadline(), &strand});
    if (strand.can_go_on(held))
      waiting.ready.push_back(&strand);  // what it waits for came before it was listened for
    else
      waiting.by_subject.emplace(strand.subject(), &strand);
  });
}

void StrandDriver::leave(std::function<void()> work) {
  monitor_.change_of(
      this, [&](const Monitor::Held& held) { waiting_(held).work.push_back(std::move(work)); });
}

void StrandDriver::do_work() {
  const auto left = monitor_.look(
      [&](const Monitor::Held& held) { return std::exchange(waiting_(held).work, {}); });
  for (const auto& work : left) work();
}

void StrandDriver::run(std::stop_token stop) {
  const Monitor::Listener listener(
      monitor_, [&](const Monitor::Held& held, const void* subject) { hear(held, subject); });
  monitor_.look([&](const Monitor::Held& held) {
    waiting_(held).ready = strands_;
    waiting_(held).left = strands_.size();
  });
  for (;;) {
    const auto deadline = monitor_.look([&](const Monitor::Held& held) {
      auto& waiting = waiting_(held);
      return waiting.sleeps_until = waiting.driven ? Strand::never : waiting.next_deadline();
    });
    monitor_.wait_until(stop, deadline,
                        [&](const Monitor::Held& held) { return waiting_(held).needs_driver(); });
    do_work();
    if (stop.stop_requested()) {
      for (auto* strand : strands_) strand->cancel();
      stop = {};
    }
    const bool here = monitor_.look([&](const Monitor::Held& held) {
      auto& waiting = waiting_(held);
      if (waiting.driven) return false;
      if (Clock::now() >= waiting.next_deadline()) waiting.move_all_ready(held);
      waiting.driven = true;
      return true;
    });
    if (!here) continue;
    drive();
    const bool all_ended = monitor_.look([&](const Monitor::Held& held) {
      return waiting_(held).left == 0 && !waiting_(held).driven;
    });
    if (!all_ended) continue;
    do_work();
    return;
  }
}

}  // namespace zksh
