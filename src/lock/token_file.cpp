// TokenFile: writes a fencing token to a file.
#include "lock/token_file.h"

#include "base/error.h"
#include "base/fd.h"
#include "lock/text.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace zksh {
namespace {

using namespace std::chrono_literals;

[[noreturn]] void fail(const std::string& file, int number) {
  throw Error(fmt::format("cannot write the token to {}: {}", file, strerror(number)));
}

bool is_special(const std::string& file) {
  struct stat info {};
  return stat(file.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
}

/// Returns 0 or an errno.
int write_text(const std::string& name, int flags, const std::string& text) {
  const Fd file(open(name.c_str(), O_WRONLY | O_CLOEXEC | flags, 0644));
  if (!file) return errno;
  // A few bytes are written completely or not at all.
  const auto count = write(file.get(), text.data(), text.size());
  if (count < 0) return errno;
  return static_cast<std::size_t>(count) == text.size() ? 0 : ENOSPC;
}

/// Whether nobody reads it yet, or the reader is slow.
bool is_blocked(const std::string& file, int problem) {
  struct stat info {};
  if (problem != ENXIO) return problem == EAGAIN;
  return stat(file.c_str(), &info) == 0 && S_ISFIFO(info.st_mode);
}

}  // namespace

bool write_token_file(const std::string& file, const Lock& lock, Monitor& monitor,
                      const std::stop_token& stop) {
  const auto text = tokens_text(lock.status().holding) + "\n";
  if (is_special(file)) {
    // Opened anew each time: O_NONBLOCK must not be set for others that have it open.
    for (int problem = 0; (problem = write_text(file, O_NONBLOCK, text)) != 0;) {
      if (!is_blocked(file, problem)) fail(file, problem);
      const bool unwanted =
          monitor.wait_until(stop, Clock::now() + 10ms,
                             [&](const Monitor::Held& held) { return !lock.is_wanted(held); });
      if (stop.stop_requested()) throw Cancelled();
      if (unwanted) return false;
    }
    return true;
  }
  // In the same directory, so that rename replaces the file atomically.
  const auto fresh = fmt::format("{}.{}.new", file, getpid());
  int problem = write_text(fresh, O_CREAT | O_TRUNC | O_NOFOLLOW, text);
  if (problem == 0 && rename(fresh.c_str(), file.c_str()) != 0) problem = errno;
  if (problem == 0) return true;
  unlink(fresh.c_str());
  fail(file, problem);
}

}  // namespace zksh
