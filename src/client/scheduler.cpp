// Scheduler: drives any number of fibers, one at a time.
#include "client/scheduler.h"

#include "base/monitor.h"

#include <algorithm>

namespace zksh {

void Scheduler::Waiting::move_ready(const Monitor::Held& held, const void* subject) {
  const auto [first, last] = by_subject.equal_range(subject);
  for (auto at = first; at != last;) {
    if (at->second->can_resume(held)) {
      ready.push_back(at->second);
      at = by_subject.erase(at);
    } else {
      ++at;
    }
  }
}

void Scheduler::Waiting::move_all_ready(const Monitor::Held& held) {
  std::erase_if(by_subject, [&](const auto& entry) {
    if (!entry.second->can_resume(held)) return false;
    ready.push_back(entry.second);
    return true;
  });
}

void Scheduler::Waiting::hear(const Monitor::Held& held, const void* subject) {
  if (!subject) return move_all_ready(held);
  move_ready(held, subject);
  move_ready(held, nullptr);  // those that wait for any change
}

Clock::time_point Scheduler::Waiting::next_deadline() const {
  return deadlines.empty() ? Fiber::never : deadlines.begin()->first;
}

/// Whether the thread in `run` has something to do.
bool Scheduler::Waiting::needs_driver() const {
  if (!work.empty()) return true;
  return !driven && (!ready.empty() || unfinished == 0 || next_deadline() < sleeps_until);
}

void Scheduler::hear(const Monitor::Held& held, const void* subject) {
  if (subject == this) return;  // its own change, meant for the thread in `run`
  auto& waiting = waiting_(held);
  waiting.hear(held, subject);
  auto* const deferred = DeferredCalls::here();
  if (!deferred || waiting.driven || waiting.ready.empty()) return;
  waiting.driven = true;
  deferred->add([this] { drive(); });
}

/// Runs fibers until none can go on. The calling thread must have set `driven`.
void Scheduler::drive() {
  for (;;) {
    const auto ready = monitor_.with_lock(
        [&](const Monitor::Held& held) { return std::exchange(waiting_(held).ready, {}); });
    for (auto* fiber : ready) resume(*fiber);
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

void Scheduler::resume(Fiber& fiber) {
  monitor_.with_lock([&](const Monitor::Held& held) {
    waiting_(held).deadlines.erase({fiber.deadline(), &fiber});
  });
  fiber.resume();
  monitor_.with_lock([&](const Monitor::Held& held) {
    auto& waiting = waiting_(held);
    if (fiber.ended()) {
      --waiting.unfinished;
      return;
    }
    if (fiber.deadline() != Fiber::never) waiting.deadlines.insert({fiber.deadline(), &fiber});
    if (fiber.can_resume(held))
      waiting.ready.push_back(&fiber);  // it became ready before it was registered
    else
      waiting.by_subject.emplace(fiber.subject(), &fiber);
  });
}

void Scheduler::defer(std::function<void()> work) {
  monitor_.change_of(
      this, [&](const Monitor::Held& held) { waiting_(held).work.push_back(std::move(work)); });
}

void Scheduler::do_deferred_work() {
  const auto unfinished = monitor_.with_lock(
      [&](const Monitor::Held& held) { return std::exchange(waiting_(held).work, {}); });
  for (const auto& work : unfinished) work();
}

bool Scheduler::run(std::stop_token stop, Clock::duration leave_patience) {
  const Monitor::Listener listener(
      monitor_, [&](const Monitor::Held& held, const void* subject) { hear(held, subject); });
  monitor_.with_lock([&](const Monitor::Held& held) {
    waiting_(held).ready = fibers_;
    waiting_(held).unfinished = fibers_.size();
  });
  auto give_up = Fiber::never;
  auto unfinished = fibers_.size();
  for (;;) {
    const auto deadline = monitor_.with_lock([&](const Monitor::Held& held) {
      auto& waiting = waiting_(held);
      const auto next = waiting.driven ? Fiber::never : waiting.next_deadline();
      return waiting.sleeps_until = std::min(next, give_up);
    });
    monitor_.wait_until(stop, deadline,
                        [&](const Monitor::Held& held) { return waiting_(held).needs_driver(); });
    do_deferred_work();
    if (stop.stop_requested()) {
      for (auto* fiber : fibers_) fiber->cancel();
      stop = {};
      give_up = Clock::now() + leave_patience;
    }
    bool given_up = false;
    const bool here = monitor_.with_lock([&](const Monitor::Held& held) {
      auto& waiting = waiting_(held);
      if (give_up != Fiber::never && std::exchange(unfinished, waiting.unfinished) != unfinished)
        give_up = Clock::now() + leave_patience;
      if (waiting.driven) return false;
      given_up = Clock::now() >= give_up;
      if (Clock::now() >= waiting.next_deadline()) waiting.move_all_ready(held);
      waiting.driven = true;
      return true;
    });
    if (!here) continue;
    if (given_up) return false;  // still driven, so no other thread touches the fibers
    drive();
    const bool all_ended = monitor_.with_lock([&](const Monitor::Held& held) {
      return waiting_(held).unfinished == 0 && !waiting_(held).driven;
    });
    if (!all_ended) continue;
    do_deferred_work();
    return true;
  }
}

}  // namespace zksh
