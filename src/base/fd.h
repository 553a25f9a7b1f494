// Fd: an owned descriptor, a stop that a poll can wait for, and writes that wait for either.
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <functional>
#include <stop_token>
#include <string_view>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace zksh {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { close(); }

  /// -1 when nothing is open.
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

struct Pipe {
  Fd read_end;
  Fd write_end;
};

/// Closed on exec. Throws std::system_error when there are no descriptors left.
inline Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
  return {Fd(ends[0]), Fd(ends[1])};
}

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
