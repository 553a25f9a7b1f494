// OutputFile: a file that takes a command's results in place of standard output.
#include "shell/output_file.h"

#include "base/error.h"

#include <fmt/core.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace zksh {
namespace {

/// A named pipe without a reader cannot be opened but by waiting where no stop is seen.
Fd open_for_writing(const std::string& name, int flags, const std::stop_token& stop) {
  constexpr int look_again_after = 50;  // ms
  const StopFd stopped(stop);
  while (true) {
    Fd fd(open(name.c_str(), flags | O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666));
    if (fd || errno != ENXIO) return fd;
    pollfd waiting{.fd = stopped.get(), .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, look_again_after) > 0) throw Cancelled();
  }
}

}  // namespace

OutputFile::OutputFile(std::string name, bool append, const std::stop_token& stop)
    : name_(std::move(name)), begun_(append) {
  fd_ = open_for_writing(name_, append ? O_APPEND : 0, stop);
  if (!fd_)
    throw Error(fmt::format("cannot write to {}: {}; the command was not run", name_,
                            std::strerror(errno)));
  // A program that gets the descriptor does not expect that it refuses to wait.
  fcntl(fd_.get(), F_SETFL, fcntl(fd_.get(), F_GETFL) & ~O_NONBLOCK);
  writer_.emplace(fd_.get(), stop);
}

void OutputFile::begin() {
  if (std::exchange(begun_, true)) return;
  struct stat info {};
  if (fstat(fd_.get(), &info) == 0 && S_ISREG(info.st_mode) && ftruncate(fd_.get(), 0) != 0)
    fail(errno);
}

int OutputFile::fd() {
  begin();
  return fd_.get();
}

void OutputFile::write(std::string_view bytes) {
  begin();
  const int error = writer_->write(bytes);
  if (error == ECANCELED) throw Cancelled();
  if (error != 0) fail(error);
}

int OutputFile::finish(int result) {
  if (result != status::usage) begin();
  writer_.reset();
  // Some file systems tell of a full disk only here.
  const int copy = fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0);
  if (copy >= 0 && close(copy) != 0 && result == status::ok) fail(errno);
  return result;
}

void OutputFile::fail(int error) const {
  throw Error(fmt::format("cannot write to {}: {}", name_, std::strerror(error)));
}

}  // namespace zksh
