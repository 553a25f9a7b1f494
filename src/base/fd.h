// Fd: descriptors, what is written to and read from them, and whole files.
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <functional>
#include <stop_token>
#include <string>
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

  /// -1 if none is open.
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

/// Both ends are close-on-exec. Throws std::system_error when there are no descriptors left.
inline Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
  return {Fd(ends[0]), Fd(ends[1])};
}

/// A descriptor that becomes readable when the stop is requested, and stays so. May be created on
/// any thread.
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

/// Blocks until the descriptor is ready for `events`, as poll(2) names them, or has failed or
/// ended. Returns false after a stop.
bool await_ready(int fd, short events, const StopFd& stop);

/// Writes to a descriptor that it does not own, and that may be shared and blocking. Used by one
/// thread.
class FdWriter {
 public:
  FdWriter(int fd, const std::stop_token& stop);

  /// Writes all bytes; blocks until then or until a stop. Returns 0 or an errno; ECANCELED after a
  /// stop.
  int write(std::string_view bytes);

 private:
  int fd_;
  std::size_t most_;  ///< bytes that a ready descriptor takes without blocking
  StopFd stop_;
};

/// Replaces the ~ in "~/x" by $HOME. Any other name is returned unchanged, as are all if $HOME is
/// not set.
std::string with_home(std::string name);

/// Reads a descriptor to its end; `name` is for messages. Blocks. Throws UsageError if it cannot be
/// read or holds more than 64 MiB, far more than a server accepts as a value.
std::string read_all(int fd, const std::string& name);
/// Opens a file that is read from its beginning to its end. Throws as read_all.
Fd open_to_read(const std::string& name);
/// Replaces `into` by `most` bytes of a file from `offset` on; fewer only at its end. Throws as
/// read_all; `into` is then empty.
void read_at(const Fd& file, std::uint64_t offset, std::size_t most, std::string& into,
             const std::string& name);
/// Reads a whole file. Throws as read_all.
std::string read_file(const std::string& name);
/// What some editors write at the beginning of a text in UTF-8.
inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
/// Reads a whole file of text, without a byte order mark. Throws as read_all.
std::string read_text_file(const std::string& name);

}  // namespace zksh
