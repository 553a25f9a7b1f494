// Scheduler: drives any number of fibers, one at a time.
#pragma once

#include "client/task.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <set>
#include <stop_token>
#include <unordered_map>
#include <utility>
#include <vector>

namespace zksh {

/// Runs the fibers that can go on, on one thread at a time, so that they need no locks among
/// themselves. That is the thread in `run`, or the one that delivered an answer or event (see
/// DeferredCalls). The cost of a change does not grow with the number of fibers, as long as they
/// wait for different subjects.
class Scheduler {
 public:
  explicit Scheduler(Monitor& monitor) : monitor_(monitor) {}
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  ~Scheduler() = default;

  /// Adds a fiber that has begun. Must be called before `run`, which the fiber must outlive.
  void add(Fiber& fiber) { fibers_.push_back(&fiber); }
  /// Leaves work that may block, such as notifying somebody, to the thread in `run`: other threads,
  /// which must not block, drive fibers too. The work is done in order, before `run` returns. From
  /// any thread.
  void defer(std::function<void()> work);
  /// Blocks until every fiber has ended. A stop cancels them all, once; their clean-up is still
  /// waited for, but returns false once none has ended for `leave_patience`: the others stay where
  /// they are. Exceptions of tasks are left to Fiber::result.
  bool run(std::stop_token stop, Clock::duration leave_patience = std::chrono::hours(24));

 private:
  using Deadline = std::pair<Clock::time_point, Fiber*>;

  /// The waiting fibers, by subject, and those that can go on.
  struct Waiting {
    std::unordered_multimap<const void*, Fiber*> by_subject;
    std::vector<Fiber*> ready;
    std::set<Deadline> deadlines;             ///< of the waiting fibers
    std::vector<std::function<void()>> work;  ///< for the thread in `run`
    std::size_t unfinished = 0;               ///< number of fibers that have not ended
    bool driven = false;                      ///< by some thread, which alone may touch the fibers
    /// When the thread in `run` wakes up if nothing happens.
    Clock::time_point sleeps_until = Fiber::never;

    void hear(const Monitor::Held& held, const void* subject);
    void move_ready(const Monitor::Held& held, const void* subject);
    void move_all_ready(const Monitor::Held& held);
    Clock::time_point next_deadline() const;
    bool needs_driver() const;
  };

  void hear(const Monitor::Held& held, const void* subject);
  void drive();
  void resume(Fiber& fiber);
  void do_deferred_work();

  Monitor& monitor_;
  std::vector<Fiber*> fibers_;
  Guarded<Waiting> waiting_;
};

}  // namespace zksh
