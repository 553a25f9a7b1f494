// Fd: descriptors, what is written to and read from them, and whole files.
#include "base/fd.h"

#include "base/error.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <sys/stat.h>

namespace zksh {
namespace {

std::size_t most_at_once(int fd) {
  struct stat info {};
  const bool regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  return regular ? std::size_t{1} << 20U : PIPE_BUF;
}

constexpr std::size_t most_bytes = 64U << 20U;

[[noreturn]] void fail_on(const std::string& name) {
  throw ValueError(fmt::format("cannot read {}: {}", name, std::strerror(errno)));
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

std::string with_home(std::string name) {
  const char* const home = std::getenv("HOME");
  if (home && name.starts_with("~/")) name.replace(0, 1, home);
  return name;
}

std::string read_all(int fd, const std::string& name) {
  std::string bytes;
  std::array<char, 1U << 16U> block;
  while (true) {
    const auto count = TEMP_FAILURE_RETRY(read(fd, block.data(), block.size()));
    if (count == 0) return bytes;
    if (count < 0) fail_on(name);
    bytes.append(block.data(), static_cast<std::size_t>(count));
    if (bytes.size() > most_bytes)
      throw ValueError(fmt::format("{} is larger than {} MiB", name, most_bytes >> 20U));
  }
}

Fd open_to_read(const std::string& name) {
  Fd file(open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) fail_on(name);
  posix_fadvise(file.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  return file;
}

void read_at(const Fd& file, std::uint64_t offset, std::size_t most, std::string& into,
             const std::string& name) {
  into.resize(most);
  std::size_t have = 0;
  while (have < most) {
    const auto got = TEMP_FAILURE_RETRY(
        pread(file.get(), into.data() + have, most - have, static_cast<off_t>(offset + have)));
    if (got == 0) break;
    if (got < 0) {
      into.clear();
      fail_on(name);
    }
    have += static_cast<std::size_t>(got);
  }
  into.resize(have);
}

std::string read_file(const std::string& name) { return read_all(open_to_read(name).get(), name); }

std::string read_text_file(const std::string& name) {
  auto text = read_file(name);
  if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
  return text;
}

}  // namespace zksh
