// DeferredCalls: work that a change makes possible, for the thread that made the change.
#pragma once

#include "base/monitor.h"

#include <functional>
#include <vector>

namespace zksh {

/// While one lives, a Monitor::Listener that hears of a change on this thread may leave work here;
/// it is done when the DeferredCalls ends. Handing the work to a thread that waits for it would
/// cost a wake-up, which is longer than most of the work. Only threads that may be kept for a
/// moment, and that hold no lock, have one: those on which the C client tells answers and events.
/// Neither the change nor the work may wait (NoWaiting).
class DeferredCalls {
 public:
  DeferredCalls() : outer_(innermost) { innermost = this; }
  DeferredCalls(const DeferredCalls&) = delete;
  DeferredCalls& operator=(const DeferredCalls&) = delete;
  /// Does the work, in the order in which it came. It must not throw.
  ~DeferredCalls() {
    innermost = outer_;
    for (const auto& work : work_) work();
  }

  /// The one of this thread; null when it has none, and nothing may be left to it.
  static DeferredCalls* here() { return innermost; }
  void add(std::function<void()> work) { work_.push_back(std::move(work)); }

 private:
  static thread_local inline DeferredCalls* innermost = nullptr;
  NoWaiting no_waiting_;
  DeferredCalls* outer_;
  std::vector<std::function<void()>> work_;
};

}  // namespace zksh
