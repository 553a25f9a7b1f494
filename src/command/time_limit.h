// TimeLimit: a stop that is also requested when a time has passed.
#pragma once

#include "base/monitor.h"

#include <chrono>
#include <optional>
#include <stop_token>
#include <thread>

namespace zksh {

/// Requests its stop when `outer` is requested, or when the time has passed. For one thread.
class TimeLimit {
 public:
  /// Starts the time; nullopt means no limit.
  TimeLimit(Monitor& monitor, std::optional<std::chrono::milliseconds> time,
            const std::stop_token& outer)
      : outer_(outer), forward_(outer, Forward{source_}) {
    if (!time) return;
    timer_ =
        std::jthread([this, &monitor, end = Clock::now() + *time](const std::stop_token& gone) {
          monitor.sleep_until(gone, end);
          if (!gone.stop_requested()) source_.request_stop();
        });
  }
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;
  ~TimeLimit() = default;

  std::stop_token stop() const { return source_.get_token(); }
  /// Whether the time has passed and `outer` has not been requested.
  bool reached() const { return source_.stop_requested() && !outer_.stop_requested(); }

 private:
  struct Forward {
    std::stop_source source;
    void operator()() const { source.request_stop(); }
  };
  std::stop_token outer_;
  std::stop_source source_;
  std::stop_callback<Forward> forward_;
  std::jthread timer_;
};

}  // namespace zksh
