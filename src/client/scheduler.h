// Scheduler: any number of fibers, driven one at a time, wherever an answer comes.
#pragma once

#include "client/task.h"

#include <cstddef>
#include <functional>
#include <set>
#include <stop_token>
#include <unordered_map>
#include <utility>
#include <vector>

namespace zksh {

/// Runs those of its fibers that can go on: one thread at a time, so that they need no locks among
/// themselves. That is the thread that calls `run`, or the one on which an answer or an event came
/// (see DeferredCalls). What a change costs does not grow with the number of fibers, as long as
/// they wait for different subjects.
class Scheduler {
 public:
  explicit Scheduler(Monitor& monitor) : monitor_(monitor) {}
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  ~Scheduler() = default;

  /// A fiber that has begun; it outlives the driver's run. Before the run.
  void add(Fiber& fiber) { fibers_.push_back(&fiber); }
  /// Leaves to the thread of `run` what may wait, as telling somebody does: a fiber is driven by
  /// others too, which must not. It is done in this order, before `run` returns. From any thread.
  void leave(std::function<void()> work);
  /// Blocks until every fiber has ended. A stop cancels them all, once; what they then do to clear
  /// up is still waited for. What a task throws is left to its Fiber::result.
  void run(std::stop_token stop);

 private:
  using Deadline = std::pair<Clock::time_point, Fiber*>;

  /// The fibers that wait, by the subjects that they wait for, and those that need not any more.
  struct Waiting {
    std::unordered_multimap<const void*, Fiber*> by_subject;
    std::vector<Fiber*> ready;
    std::set<Deadline> deadlines;             ///< of those that wait
    std::vector<std::function<void()>> work;  ///< left to the thread of `run`
    std::size_t left = 0;                     ///< fibers that have not ended
    bool driven = false;                      ///< by some thread, which alone touches the fibers
    /// Until when the thread of `run` sleeps if nothing happens.
    Clock::time_point sleeps_until = Fiber::never;

    void hear(const Monitor::Held& held, const void* subject);
    void move_ready(const Monitor::Held& held, const void* subject);
    void move_all_ready(const Monitor::Held& held);
    Clock::time_point next_deadline() const;
    bool needs_driver() const;
  };

  void hear(const Monitor::Held& held, const void* subject);
  void drive();
  void go_on(Fiber& fiber);
  void do_work();

  Monitor& monitor_;
  std::vector<Fiber*> fibers_;
  Guarded<Waiting> waiting_;
};

}  // namespace zksh
