// Monitor: the process's one lock, the values it guards, and waiting for them to change.
#include "base/monitor.h"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>

namespace zksh {

void NoWaiting::fail(const char* what) {
  std::fprintf(stderr, "zksh: a bug: %s on a thread of the C client, which must not wait\n", what);
  std::abort();
}

/// A waiting thread. Lives on its stack, and is in the list until its predicate has been true.
struct Monitor::Waiter {
  const Question& question;
  Waiter* previous = nullptr;
  Waiter* next = nullptr;
  bool was_ready = false;  ///< and has been removed from the list

  // The wake-up has a lock of its own, so that a stop may be requested under the monitor.
  std::mutex mutex{};
  std::condition_variable condition{};
  bool woken = false;

  void wake() {
    const std::lock_guard lock(mutex);
    woken = true;
    condition.notify_one();
  }
  void sleep(Clock::time_point deadline) {
    std::unique_lock lock(mutex);
    if (deadline == Clock::time_point::max())
      condition.wait(lock, [this] { return woken; });
    else
      condition.wait_until(lock, deadline, [this] { return woken; });
  }
};

bool Monitor::wait_for(const std::stop_token& stop, Clock::time_point deadline,
                       const Question& question) {
  NoWaiting::refuse("Monitor::wait");
  Waiter waiter{.question = question};
  {
    const std::lock_guard lock(mutex_);
    if (question(held())) return true;
    waiter.previous = last_;
    (last_ ? last_->next : first_) = &waiter;
    last_ = &waiter;
  }
  {
    const std::stop_callback wakes(stop, [&waiter] { waiter.wake(); });
    waiter.sleep(deadline);
  }
  const std::lock_guard lock(mutex_);
  if (waiter.was_ready) return true;
  forget(waiter);
  return question(held());
}

void Monitor::wake_ready(const void* subject) {
  for (const auto& hear : listeners_) hear(held(), subject);
  for (Waiter* waiter = first_; waiter;) {
    Waiter& one = *std::exchange(waiter, waiter->next);
    if (!one.question(held())) continue;
    forget(one);
    one.was_ready = true;
    one.wake();  // under the monitor: the waiter may be gone as soon as that is released
  }
}

Monitor::Listener::Listener(Monitor& monitor, Hear hear) : monitor_(monitor) {
  const std::lock_guard lock(monitor_.mutex_);
  place_ = monitor_.listeners_.insert(monitor_.listeners_.end(), std::move(hear));
}

Monitor::Listener::~Listener() {
  const std::lock_guard lock(monitor_.mutex_);
  monitor_.listeners_.erase(place_);
}

void Monitor::forget(Waiter& waiter) {
  (waiter.previous ? waiter.previous->next : first_) = waiter.next;
  (waiter.next ? waiter.next->previous : last_) = waiter.previous;
}

}  // namespace zksh
