// Fd: waiting for descriptors, and writes that a stop can end.
#include "base/fd.h"

#include <algorithm>
#include <poll.h>
#include <sys/stat.h>

namespace zksh {
namespace {

std::size_t most_at_once(int fd) {
  struct stat info {};
  const bool regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  return regular ? std::size_t{1} << 20U : PIPE_BUF;
}

}  // namespace

bool await_ready(int fd, short events, const StopFd& stop) {
  std::array<pollfd, 2> waiting{{{.fd = fd, .events = events, .revents = 0},
                                 {.fd = stop.get(), .events = POLLIN, .revents = 0}}};
  do poll(waiting.data(), waiting.size(), -1);
  while (waiting[0].revents == 0 && waiting[1].revents == 0);
  return waiting[1].revents == 0;
}

FdWriter::FdWriter(int fd, const std::stop_token& stop)
    : fd_(fd), most_(most_at_once(fd)), stop_(stop) {}

int FdWriter::write(std::string_view bytes) {
  while (!bytes.empty()) {
    if (!await_ready(fd_, POLLOUT, stop_)) return ECANCELED;
    const auto count = ::write(fd_, bytes.data(), std::min(bytes.size(), most_));
    if (count >= 0)
      bytes.remove_prefix(static_cast<std::size_t>(count));
    else if (errno != EINTR && errno != EAGAIN)
      return errno;
  }
  return 0;
}

}  // namespace zksh
