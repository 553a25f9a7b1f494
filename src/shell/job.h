// Job: a function that runs on its own thread until it ends or is stopped.
#pragma once

#include "base/monitor.h"

#include <functional>
#include <optional>
#include <stop_token>
#include <thread>

namespace zksh {

class Job {
 public:
  /// Starts `body`, which returns an exit status and must not throw. Writes `wake_fd` (an eventfd,
  /// not owned) when it has ended.
  Job(Monitor& monitor, int wake_fd, std::function<int(std::stop_token)> body);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  /// Asks the body to stop and waits until it has ended.
  ~Job() = default;

  /// Asks the body to stop; returns at once.
  void stop() { thread_.request_stop(); }
  /// The exit status, once the body has ended.
  std::optional<int> status();

 private:
  Monitor& monitor_;
  Guarded<std::optional<int>> status_;
  std::jthread thread_;
};

}  // namespace zksh
