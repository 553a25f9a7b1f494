// StrandDriver: any number of strands, driven one at a time, wherever an answer comes.
#pragma once

#include "client/flow.h"

#include <cstddef>
#include <functional>
#include <set>
#include <stop_token>
#include <unordered_map>
#include <utility>
#include <vector>

namespace zksh {

/// Runs those of its strands that can go on: one thread at a time, so that they need no locks among
/// themselves. That is the thread that calls `run`, or the one on which an answer or an event came
/// (see Afterwards). What a change costs does not grow with the number of strands, as long as they
/// wait for different subjects.
class StrandDriver {
 public:
  explicit StrandDriver(Monitor& monitor) : monitor_(monitor) {}
  StrandDriver(const StrandDriver&) = delete;
  StrandDriver& operator=(const StrandDriver&) = delete;
  ~StrandDriver() = default;

  /// A strand that has begun; it outlives the driver's run. Before the run.
  void add(Strand& strand) { strands_.push_back(&strand); }
  /// Leaves to the thread of `run` what may wait, as telling somebody does: a strand is driven by
  /// others too, which must not. It is done in this order, before `run` returns. From any thread.
  void leave(std::function<void()> work);
  /// Blocks until every strand has ended. A stop cancels them all, once; what they then do to clear
  /// up is still waited for. What a flow throws is left to its Strand::result.
  void run(std::stop_token stop);

 private:
  using Deadline = std::pair<Clock::time_point, Strand*>;

  /// The strands that wait, by the subjects that they wait for, and those that need not any more.
  struct Waiting {
    std::unordered_multimap<const void*, Strand*> by_subject;
    std::vector<Strand*> ready;
    std::set<Deadline> deadlines;             ///< of those that wait
    std::vector<std::function<void()>> work;  ///< left to the thread of `run`
    std::size_t left = 0;                     ///< strands that have not ended
    bool driven = false;                      ///< by some thread, which alone touches the strands
    /// Until when the thread of `run` sleeps if nothing happens.
    Clock::time_point sleeps_until = Strand::never;

    void hear(const Monitor::Held& held, const void* subject);
    void move_ready(const Monitor::Held& held, const void* subject);
    void move_all_ready(const Monitor::Held& held);
    Clock::time_point next_deadline() const;
    bool needs_driver() const;
  };

  void hear(const Monitor::Held& held, const void* subject);
  void drive();
  void go_on(Strand& strand);
  void do_work();

  Monitor& monitor_;
  std::vector<Strand*> strands_;
  Guarded<Waiting> waiting_;
};

}  // namespace zksh
