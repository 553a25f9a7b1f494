// Monitor: the one lock, what it guards, and threads that must not wait for it.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <mutex>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace zksh {

/// While one lives, its thread must not wait for another one: those on which the C client tells
/// answers and events, which are joined by whoever closes that client. Whatever can wait says so
/// (`refuse`), so that a mistake shows the first time its way is gone, not when two threads happen
/// to wait for each other while a lock is held.
class NoWaiting {
 public:
  NoWaiting() { ++depth; }
  NoWaiting(const NoWaiting&) = delete;
  NoWaiting& operator=(const NoWaiting&) = delete;
  ~NoWaiting() { --depth; }

  /// Ends the process, with `what` on stderr, when this thread must not wait.
  static void refuse(const char* what) {
    if (depth > 0) fail(what);
  }

 private:
  [[noreturn]] static void fail(const char* what);
  static thread_local inline int depth = 0;
};

using Clock = std::chrono::steady_clock;

/// A mutex, and the threads that wait for what it guards. Every shared value of a process is
/// guarded by the same Monitor, so that a thread can wait for any of several things in one
/// predicate. Who changes something asks the predicates of all that wait, and wakes those threads
/// whose predicate is true: with many waiting, a wake-up costs far more than a question.
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

  Monitor() = default;
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;
  ~Monitor() = default;

  /// Runs `f(const Held&)` under the lock, then wakes whoever waited for this. Never blocks for
  /// long.
  template <class F>
  auto change(F&& f) {
    return change_of(nullptr, std::forward<F>(f));
  }

  /// As change, of `*subject` alone: who listens, and knows that it waits for something else, need
  /// not look at it.
  template <class F>
  auto change_of(const void* subject, F&& f) {
    const std::lock_guard lock(mutex_);
    const Notifier notifier{*this, subject};
    return std::forward<F>(f)(held());
  }

  /// Hears of every change while it lives: for one that waits for thousands of things.
  class Listener {
   public:
    /// Called under the lock, on the thread of the change, before any predicate is asked; `subject`
    /// is that of change_of, null for any change. It must not throw.
    using Hear = std::function<void(const Held& held, const void* subject)>;

    Listener(Monitor& monitor, Hear hear);
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    /// It is not called any more when this returns. Not under the lock.
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

  /// Blocks until `ready(const Held&)` is true; false when `stop` was requested first. Once it has
  /// been true, it is not asked again. It must not throw, and threads that change something ask it
  /// too while this one blocks. Not on a thread that must not wait (NoWaiting).
  template <class Ready>
  bool wait(const std::stop_token& stop, Ready&& ready) {
    return wait_until(stop, Clock::time_point::max(), std::forward<Ready>(ready));
  }

  /// As wait, but gives up at `deadline` too: false then.
  template <class Ready>
  bool wait_until(const std::stop_token& stop, Clock::time_point deadline, Ready&& ready) {
    using Function = std::remove_reference_t<Ready>;
    return wait_for(stop, deadline,
                    {&ready, [](const void* function, const Held& held) -> bool {
                       return (*static_cast<Function*>(const_cast<void*>(function)))(held);
                     }});
  }

 private:
  struct Waiter;
  /// A predicate, wherever it is kept.
  struct Question {
    const void* function = nullptr;
    bool (*ask)(const void* function, const Held& held) = nullptr;
  };
  struct Notifier {
    Monitor& monitor;
    const void* subject;
    ~Notifier() { monitor.wake_ready(subject); }
  };
  static const Held& held() {
    static const Held proof;
    return proof;
  }

  bool wait_for(const std::stop_token& stop, Clock::time_point deadline, Question question);
  void wake_ready(const void* subject);
  void forget(Waiter& waiter);

  std::mutex mutex_;
  Waiter* first_ = nullptr;  ///< of those that wait, in the order in which they came
  Waiter* last_ = nullptr;
  std::list<Listener::Hear> listeners_;
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
