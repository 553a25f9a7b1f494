// DeferredCalls: work that a Monitor::Listener leaves to the thread whose change it heard of.
#pragma once

#include "base/monitor.h"

#include <functional>
#include <vector>

namespace zksh {

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
