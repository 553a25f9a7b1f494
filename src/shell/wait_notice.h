// WaitNotice: says at a terminal that a command waits for servers.
#pragma once

#include "base/monitor.h"
#include "base/signal_relay.h"
#include "shell/printer.h"

#include <functional>
#include <optional>
#include <string>

namespace zksh {

/// Once a command has waited for servers for a second, and printed nothing, shows "waiting for
/// zk1:2181, 5 s (Ctrl-C ends)" below the output, until it prints something or ends. Used only by
/// the main thread, while a command runs in the foreground.
class WaitNotice {
 public:
  struct Wait {
    Clock::time_point since{};  ///< with hardly a pause
    std::string server{};       ///< for a terminal
  };

  WaitNotice(Printer& printer, const SignalRelay& signals) : printer_(printer), signals_(signals) {}

  /// Sets the function that tells whether anybody waits for a server. Nothing is shown before that,
  /// or once the function is empty.
  void look_with(std::function<std::optional<Wait>()> look) { look_ = std::move(look); }
  /// Shows it, or takes it away. Returns when to call this again even if nothing happens.
  std::optional<Clock::time_point> update();
  /// Takes it away: the command has ended, or is interrupted.
  void end();

 private:
  Printer& printer_;
  const SignalRelay& signals_;
  std::function<std::optional<Wait>()> look_{};
  std::optional<Clock::time_point> since_{};
  Clock::time_point seen_{};  ///< when somebody last waited
};

}  // namespace zksh
