// The one lock of the process: values under it are reachable only with the proof that it is held.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace zksh {

using Clock = std::chrono::steady_clock;

/// A mutex with one condition variable. Every shared value of a process is guarded by the same
/// Monitor, so that a thread can wait for any of several things in one predicate.
/// All members may be called from any thread; functions given to them must not call them again.
class Monitor {
 public:
  /// The proof that the lock is held; only a Monitor makes one.
  class Held {
   public:
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

   private:
    friend class Monitor;
    Held() = default;
  };

  /// Runs `f(const Held&)` under the lock, then wakes every waiter. Never blocks for long.
  template <class F>
  auto change(F&& f) {
    const Notifier notifier{*this};  // destroyed last: waiters are woken with the lock free
    const std::lock_guard lock(mutex_);
    return std::forward<F>(f)(held());
  }

  /// Runs `f(const Held&)` under the lock, and wakes nobody.
  template <class F>
  auto look(F&& f) {
    const std::lock_guard lock(mutex_);
    return std::forward<F>(f)(held());
  }

  /// Blocks until `ready(const Held&)` is true; false when `stop` was requested first.
  template <class Ready>
  bool wait(const std::stop_token& stop, Ready&& ready) {
    std::unique_lock lock(mutex_);
    return changed_.wait(lock, stop, [&] { return ready(held()); });
  }

  /// As wait, but gives up at `deadline` too: false then.
  template <class Ready>
  bool wait_until(const std::stop_token& stop, Clock::time_point deadline, Ready&& ready) {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, stop, deadline, [&] { return ready(held()); });
  }

 private:
  struct Notifier {
    Monitor& monitor;
    ~Notifier() { monitor.changed_.notify_all(); }
  };
  static const Held& held() {
    static const Held proof;
    return proof;
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
};

/// A value that can be reached only under the Monitor.
template <class T>
class Guarded {
 public:
  Guarded() = default;
  explicit Guarded(T value) : value_(std::move(value)) {}

  T& operator()(const Monitor::Held&) { return value_; }
  const T& operator()(const Monitor::Held&) const { return value_; }

 private:
  T value_{};
};

}  // namespace zksh
