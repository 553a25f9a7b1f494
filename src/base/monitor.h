// Monitor: the process's one lock, the values it guards, waits for them to change, also for a
// limited time, and work that is deferred until a change is done.
#pragma once

#include "base/error.h"

#include <chrono>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace zksh {

/// While an instance lives, its thread must not wait for another thread. The C client's threads,
/// which deliver answers and events, have one, since closing that client joins them. Functions that
/// can block call `refuse`, so that a mistake shows at the first call, and not only when two
/// threads happen to deadlock.
class NoWaiting {
 public:
  NoWaiting() { ++depth; }
  NoWaiting(const NoWaiting&) = delete;
  NoWaiting& operator=(const NoWaiting&) = delete;
  ~NoWaiting() { --depth; }

  /// Aborts the process, with `what` on stderr, if this thread must not wait.
  static void refuse(const char* what) {
    if (depth > 0) fail(what);
  }

 private:
  [[noreturn]] static void fail(const char* what);
  static thread_local inline int depth = 0;
};

using Clock = std::chrono::steady_clock;

/// A mutex, and the threads that wait for the values it guards to change. All shared values of the
/// process are guarded by the same Monitor, so that a thread can wait for any of several things in
/// one predicate. The thread that changes something evaluates the predicates of all waiting
/// threads, and wakes those whose predicate is true: evaluating is far cheaper than waking. All
/// members may be called from any thread; functions passed to them must not call them again.
class Monitor {
 public:
  /// Proof that the lock is held; only a Monitor can create one.
  class Held {
   public:
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

   private:
    friend class Monitor;
    Held() = default;
  };

  Monitor() = default;
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;
  ~Monitor() = default;

  /// Runs `f(const Held&)` under the lock, then wakes the threads whose predicate is true. Does not
  /// block for long.
  template <class F>
  auto change(F&& f) {
    return change_of(nullptr, std::forward<F>(f));
  }

  /// As change, but only `*subject` changes: listeners that know they wait for something else can
  /// ignore it.
  template <class F>
  auto change_of(const void* subject, F&& f) {
    const std::lock_guard lock(mutex_);
    const Notifier notifier{*this, subject};
    return std::forward<F>(f)(held());
  }

  /// Is called at every change while it lives: for an object that waits for thousands of things.
  class Listener {
   public:
    /// Called under the lock, on the thread that made the change, before any predicate is
    /// evaluated. `subject` is change_of's; null means that anything may have changed. Must not
    /// throw.
    using Hear = std::function<void(const Held& held, const void* subject)>;

    Listener(Monitor& monitor, Hear hear);
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    /// The listener is not called after this returns. Not under the lock.
    ~Listener();

   private:
    Monitor& monitor_;
    std::list<Hear>::iterator place_;
  };

  /// Runs `f(const Held&)` under the lock, and wakes nobody.
  template <class F>
  auto with_lock(F&& f) {
    const std::lock_guard lock(mutex_);
    return std::forward<F>(f)(held());
  }

  /// Blocks until `ready(const Held&)` returns true; returns false if `stop` is requested first.
  /// `ready` must not throw. While this blocks, threads that change something call `ready` until it
  /// has returned true. Not on a thread that must not wait (NoWaiting).
  template <class Ready>
  bool wait(const std::stop_token& stop, Ready&& ready) {
    return wait_until(stop, Clock::time_point::max(), std::forward<Ready>(ready));
  }

  /// As wait, but also returns false at `deadline`.
  template <class Ready>
  bool wait_until(const std::stop_token& stop, Clock::time_point deadline, Ready&& ready) {
    return wait_for(stop, deadline, std::ref(ready));
  }

  /// Blocks until `time`, or until `stop` is requested. Not on a thread that must not wait.
  void sleep_until(const std::stop_token& stop, Clock::time_point time) {
    wait_until(stop, time, [](const Held&) { return false; });
  }
  /// As sleep_until, but throws Cancelled on a stop.
  void pause_until(const std::stop_token& stop, Clock::time_point time) {
    sleep_until(stop, time);
    if (stop.stop_requested()) throw Cancelled();
  }

 private:
  struct Waiter;
  /// Made of a reference to the caller's predicate, so that nothing is allocated.
  using Question = std::function<bool(const Held& held)>;
  struct Notifier {
    Monitor& monitor;
    const void* subject;
    ~Notifier() { monitor.wake_ready(subject); }
  };
  static const Held& held() {
    static const Held proof;
    return proof;
  }

  bool wait_for(const std::stop_token& stop, Clock::time_point deadline, const Question& question);
  void wake_ready(const void* subject);
  void forget(Waiter& waiter);

  std::mutex mutex_;
  Waiter* first_ = nullptr;  ///< the waiting threads, in order of arrival
  Waiter* last_ = nullptr;
  std::list<Listener::Hear> listeners_;
};

/// A value that can be accessed only under the Monitor.
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

/// Calls `work` with a stop that is requested when `outer` is, or when the time has passed; nullopt
/// means no limit. Returns whether `work` returned; false if it threw Cancelled because the time
/// was up. Rethrows everything else.
template <class Work>
bool in_time(Monitor& monitor, std::optional<std::chrono::milliseconds> time,
             const std::stop_token& outer, Work&& work) {
  std::stop_source source;
  const std::stop_callback forward(outer, [&] { source.request_stop(); });
  std::jthread timer;
  if (time)
    timer = std::jthread([&, end = Clock::now() + *time](const std::stop_token& gone) {
      monitor.sleep_until(gone, end);
      if (!gone.stop_requested()) source.request_stop();
    });
  try {
    std::forward<Work>(work)(source.get_token());
    return true;
  } catch (const Cancelled&) {
    if (outer.stop_requested() || !source.stop_requested()) throw;
    return false;
  }
}

/// While an instance lives, a Monitor::Listener that is called on this thread may add work, which
/// runs when the instance is destroyed. Handing the work to another thread would cost a wake-up,
/// which takes longer than most of the work. Only threads that hold no lock and may be delayed for
/// a moment have one: those on which the C client delivers answers and events. Neither the change
/// nor the work may wait (NoWaiting).
class DeferredCalls {
 public:
  DeferredCalls() : outer_(innermost) { innermost = this; }
  DeferredCalls(const DeferredCalls&) = delete;
  DeferredCalls& operator=(const DeferredCalls&) = delete;
  /// Runs the work in the order in which it was added. The work must not throw.
  ~DeferredCalls() {
    innermost = outer_;
    for (const auto& work : work_) work();
  }

  /// This thread's innermost instance; null if it has none.
  static DeferredCalls* here() { return innermost; }
  void add(std::function<void()> work) { work_.push_back(std::move(work)); }

 private:
  static thread_local inline DeferredCalls* innermost = nullptr;
  NoWaiting no_waiting_;
  DeferredCalls* outer_;
  std::vector<std::function<void()>> work_;
};

}  // namespace zksh
