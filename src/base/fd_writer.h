// FdWriter: writes to a descriptor that may take nothing for a while, until it does or a stop.
#pragma once

#include "base/stop_fd.h"

#include <cstddef>
#include <string_view>

namespace zksh {

/// For one thread. Does not own the descriptor, which may be shared and blocking.
class FdWriter {
 public:
  FdWriter(int fd, const std::stop_token& stop);

  /// Writes all the bytes. 0, or the errno of what went wrong; ECANCELED after a stop.
  int write(std::string_view bytes);

 private:
  int fd_;
  std::size_t most_;  ///< that a write of a descriptor that is ready takes without blocking
  StopFd stop_;
};

}  // namespace zksh
