// Afterwards: work that a change makes possible, for the thread that made the change.
#pragma once

#include "base/monitor.h"

#include <functional>
#include <vector>

namespace zksh {

/// While one lives, a Monitor::Listener that hears of a change on this thread may leave work here;
/// it is done when the Afterwards ends. Handing the work to a thread that waits for it would cost a
/// wake-up, which is longer than most of the work. Only threads that may be kept for a moment, and
/// that hold no lock, have one: those on which the C client tells answers and events. Neither the
/// change nor the work may wait (NoWaiting).
class Afterwards {
 public:
  Afterwards() : outer_(innermost) { innermost = this; }
  Afterwards(const Afterwards&) = delete;
  Afterwards& operator=(const Afterwards&) = delete;
  /// Does the work, in the order in which it came. It must not throw.
  ~Afterwards() {
    innermost = outer_;
    for (const auto& work : work_) work();
  }

  /// The one of this thread; null when it has none, and nothing may be left to it.
  static Afterwards* here() { return innermost; }
  void add(std::function<void()> work) { work_.push_back(std::move(work)); }

 private:
  static thread_local inline Afterwards* innermost = nullptr;
  NoWaiting no_waiting_;
  Afterwards* outer_;
  std::vector<std::function<void()>> work_;
};

}  // namespace zksh
