// Job: something that runs on a thread of its own until it ends or is told to stop.
#pragma once

#include "base/monitor.h"

#include <functional>
#include <optional>
#include <stop_token>
#include <thread>

namespace zksh {

class Job {
 public:
  /// Starts `body`, which returns an exit status and throws nothing. When it has ended, `wake_fd`
  /// (an eventfd, not owned) is written.
  Job(Monitor& monitor, int wake_fd, std::function<int(std::stop_token)> body);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  /// Asks the body to stop and waits for its end.
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
