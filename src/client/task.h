// Task: coroutines for algorithms that wait, any number of which share a thread.
#pragma once

#include "client/nodes.h"

#include <coroutine>
#include <exception>
#include <functional>
#include <optional>
#include <utility>

namespace zksh {

template <class T>
class Task;

namespace task_detail {

struct PromiseBase {
  std::exception_ptr error;
  std::coroutine_handle<> next;  ///< the coroutine that awaits this task
  bool starting = false;         ///< it has not waited yet, and is being called by `next`

  struct ReturnToNext {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) const noexcept {
      const auto& promise = self.promise();
      return promise.next && !promise.starting ? promise.next : std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };
  std::suspend_always initial_suspend() const noexcept { return {}; }
  ReturnToNext final_suspend() const noexcept { return {}; }
  void unhandled_exception() { error = std::current_exception(); }
};

template <class T>
struct Promise : PromiseBase {
  std::optional<T> value;
  Task<T> get_return_object();
  void return_value(T result) { value.emplace(std::move(result)); }
  T take() { return std::move(*value); }
};

template <>
struct Promise<void> : PromiseBase {
  Task<void> get_return_object();
  void return_void() const {}
  void take() const {}
};

}  // namespace task_detail

/// The return type of a coroutine: `co_await` it in another one, or give it to a Fiber. It starts
/// when it is awaited; its exceptions reach its awaiter. Parameters are stored as declared,
/// so references must outlive the task.
///
/// gcc 12 silently miscompiles some uses of co_await. Measured with 12.2 at -O0 and -O2: `if
/// (co_await f("x") == 5) a(); else b();` takes neither branch and never ends, and likewise
/// `switch`; a braced temporary in the call, as in `co_await f({.a = "x"})` or `co_await f(A{.a =
/// "x"})`, is destroyed twice; with an initializer_list the compiler crashes. Which conditions fail
/// depends on their temporaries. So co_await is not used in conditions or with ?:, nor in a
/// statement with a braced list outside a lambda's body: name the awaited value or the argument
/// first. tests/checks/test_coroutines.py enforces this.
template <class T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = task_detail::Promise<T>;  // NOLINT(readability-identifier-naming)
  using Handle = std::coroutine_handle<promise_type>;

  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  /// A task that ends without waiting returns here, like a function. If each transferred to the
  /// other instead, a loop over such tasks would fill the stack: compilers make that transfer a
  /// jump only when they optimize, and gcc not with -O1.
  bool await_suspend(std::coroutine_handle<> awaiting) noexcept {
    auto& promise = handle_.promise();
    promise.next = awaiting;
    promise.starting = true;
    handle_.resume();
    promise.starting = false;
    return !handle_.done();
  }
  T await_resume() { return result(); }

  Handle handle() const { return handle_; }
  /// The result of a task that has ended, or its exception.
  T result() {
    if (handle_.promise().error) std::rethrow_exception(handle_.promise().error);
    return handle_.promise().take();
  }

 private:
  Handle handle_;
};

template <class T>
Task<T> task_detail::Promise<T>::get_return_object() {
  return Task<T>(Task<T>::Handle::from_promise(*this));
}
inline Task<void> task_detail::Promise<void>::get_return_object() {
  return Task<void>(Task<void>::Handle::from_promise(*this));
}

/// A running task: where it is suspended, what it waits for, and whether it is cancelled. One
/// thread at a time drives it: it calls `begin`, then `resume` whenever `can_resume`, and finally
/// `result`. `cancel` and `can_resume` may be called from any thread. The task itself
/// uses the awaitables. A fiber may be destroyed before its task has ended, but not while it runs.
class Fiber {
 public:
  using Ready = std::function<bool(const Monitor::Held&)>;
  static constexpr auto never = Clock::time_point::max();

  explicit Fiber(Monitor& monitor) : monitor_(monitor) {}
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber() = default;

  Monitor& monitor() { return monitor_; }

  /// Gives the fiber a task, which starts at the next `resume`. A previous task must have ended.
  void begin(Task<> task);
  /// Whether resume would run the task now. Under the monitor.
  bool can_resume(const Monitor::Held& held) const;
  /// When it can go on even if nothing changes.
  Clock::time_point deadline() const { return deadline_; }
  /// Runs the task to its next wait; does nothing if it cannot go on. Not under the monitor.
  void resume();
  bool ended() const { return !task_ || task_->handle().done(); }
  /// Rethrows the task's exception, if any. The task must have ended.
  void result();

  /// Makes the task's present or next wait throw Cancelled, once; deferred while a Shield lives.
  void cancel();

  /// While it lives, waits are not cancelled: for clean-up.
  class Shield {
   public:
    explicit Shield(Fiber& fiber) : fiber_(fiber) { count(1); }
    Shield(const Shield&) = delete;
    Shield& operator=(const Shield&) = delete;
    ~Shield() { count(-1); }

   private:
    void count(int more) {
      fiber_.monitor_.with_lock([&](const Monitor::Held& held) { fiber_.shields_(held) += more; });
    }
    Fiber& fiber_;
  };

  /// The subject of the present wait: a Monitor::change_of another subject cannot end it. Null: any
  /// change may.
  const void* subject() const { return subject_; }

  /// `co_await fiber.until(ready[, deadline[, subject]])` returns true when `ready` is true, false
  /// at the deadline; throws Cancelled. By the time the task goes on, `ready` may be false again.
  auto until(Ready ready, Clock::time_point deadline = never, const void* subject = nullptr) {
    return Wait{*this, std::move(ready), deadline, subject};
  }
  auto pause_until(Clock::time_point deadline) {
    return Wait{*this, [](const Monitor::Held&) { return false; }, deadline, this};
  }
  /// `co_await fiber.answer(pending)` returns the Outcome of a request.
  template <class T>
  Task<Outcome<T>> answer(Pending<T> pending) {
    co_await until([&](const Monitor::Held& held) { return (*pending)(held).has_value(); }, never,
                   pending.get());
    co_return monitor_.with_lock(
        [&](const Monitor::Held& held) { return std::move(*(*pending)(held)); });
  }

 private:
  enum class Wake { NotYet, Ready, Late, Cancelled };

  class Wait {
   public:
    Wait(Fiber& fiber, Ready ready, Clock::time_point deadline, const void* subject)
        : fiber_(fiber), ready_(std::move(ready)), deadline_(deadline), subject_(subject) {}
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    ~Wait();

    bool await_ready();
    void await_suspend(std::coroutine_handle<> waiting);
    bool await_resume() const;

   private:
    friend class Fiber;
    Fiber& fiber_;
    Ready ready_;
    Clock::time_point deadline_;
    const void* subject_;
    Wake wake_ = Wake::NotYet;  ///< decided once, since `ready` may change again
  };

  Wake wake(const Monitor::Held& held, const Wait& wait) const;

  Monitor& monitor_;
  Clock::time_point deadline_ = never;
  const void* subject_ = nullptr;
  Guarded<std::coroutine_handle<>> place_;  ///< where it is suspended; null while it runs
  Guarded<Wait*> wait_;                     ///< the wait it is suspended at; null at the start
  Guarded<int> shields_;
  Guarded<bool> cancel_;
  std::optional<Task<>> task_;  ///< last: its destruction uses the other members
};

/// Drives a task to its end on this thread. A stop cancels it; its clean-up is still waited for.
/// Throws what the task throws.
void run_task(Fiber& fiber, Task<> task, const std::stop_token& stop);

}  // namespace zksh
