// StopFd: a stop that a poll can wait for.
#pragma once

#include "base/fd.h"

#include <functional>
#include <stop_token>
#include <sys/eventfd.h>

namespace zksh {

/// Readable from the moment when the stop is requested, for good. May be made on any thread.
class StopFd {
 public:
  explicit StopFd(const std::stop_token& stop)
      : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        on_stop_(stop, [this] { eventfd_write(fd_.get(), 1); }) {}

  int get() const { return fd_.get(); }

 private:
  Fd fd_;
  std::stop_callback<std::function<void()>> on_stop_;
};

}  // namespace zksh
