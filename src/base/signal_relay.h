// SignalRelay: passes signals that would end zksh to its foreground program.
#pragma once

#include "base/monitor.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <optional>

namespace zksh {

/// A signal that comes again within this time of the first counts once: timeout(1) sends it to the
/// process and then to its group.
inline constexpr std::chrono::milliseconds one_signal{500};

/// One per process. All members except `offer` may be called from any thread, but not under the
/// Monitor.
class SignalRelay {
 public:
  /// Called with SIGINT, SIGTERM or any other signal that ends a process on the main thread, under
  /// the Monitor. Returns true if it handles the signal; zksh then ignores it. Must neither block
  /// nor call the Monitor.
  using Receiver = std::function<bool(const Monitor::Held& held, int signal)>;

  explicit SignalRelay(Monitor& monitor) : monitor_(monitor) {}
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;
  ~SignalRelay() = default;

  /// While it lives, its receiver is offered signals, and Loop::leave does not give up after five
  /// seconds. So a receiver that handles nothing is useful too: for a background program, which
  /// zksh itself ends when it exits. Keep it until the program has ended and the consequences (the
  /// release of a lock) are done.
  class Registration {
   public:
    Registration(SignalRelay& relay, Receiver receiver);
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;
    /// Waits while the receiver is being called. Not under the Monitor.
    ~Registration();

   private:
    SignalRelay& relay_;
    std::list<Receiver>::iterator place_;
  };

  /// Offers a signal to the receivers, newest first; true if one handled it. Main thread only.
  bool offer(int signal);

  /// The first signal since the last call that a receiver handled and that also asks zksh to end
  /// after the program: any but SIGUSR1 and SIGUSR2.
  std::optional<int> take_end();

  /// The number of registrations; may be read in a signal handler.
  const std::atomic<int>& registrations() const { return registrations_; }

 private:
  Monitor& monitor_;
  std::list<Receiver> receivers_;  ///< under the Monitor, as is end_
  std::optional<int> end_;
  std::atomic<int> registrations_ = 0;
};

}  // namespace zksh
