// SignalRelay: hands the signals that would end zksh to the program that runs in its foreground.
#pragma once

#include "base/monitor.h"

#include <atomic>
#include <functional>
#include <list>
#include <optional>

namespace zksh {

/// One for the whole process. All members but `offer` may be called from any thread, and none
/// under the monitor.
class SignalRelay {
 public:
  /// Gets SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 or SIGUSR2 on the main thread, under the
  /// monitor, and returns whether it takes it: then zksh does not act on it. Must not block, and
  /// must not call the Monitor.
  using Receiver = std::function<bool(const Monitor::Held& held, int signal)>;

  explicit SignalRelay(Monitor& monitor) : monitor_(monitor) {}
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;
  ~SignalRelay() = default;

  /// For as long as it lives, signals are offered to its receiver, and the five seconds after which
  /// Loop::leave gives up do not run: so one that takes nothing is of use too, for a program in the
  /// background, which the end of zksh stops by itself. Keep it until the program has ended and
  /// what its end brings with it (the release of a lock) is done.
  class Registration {
   public:
    Registration(SignalRelay& relay, Receiver receiver);
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;
    /// Waits for a receiver that is being called. Not under the monitor.
    ~Registration();

   private:
    SignalRelay& relay_;
    std::list<Receiver>::iterator place_;
  };

  /// Offers a signal to the receivers, the newest first; whether one took it. Main thread only.
  bool offer(int signal);

  /// The first signal, since the last call, that was taken and asks zksh itself to end once the
  /// program has ended: SIGINT, SIGTERM, SIGHUP or SIGQUIT.
  std::optional<int> take_end();

  /// How many registrations there are; may be read in a signal handler.
  const std::atomic<int>& registrations() const { return registrations_; }

 private:
  Monitor& monitor_;
  std::list<Receiver> receivers_;  ///< under the monitor, as is end_
  std::optional<int> end_;
  std::atomic<int> registrations_ = 0;
};

}  // namespace zksh
