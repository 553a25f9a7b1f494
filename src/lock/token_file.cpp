// TokenFile: a fencing token in a file.
#include "lock/token_file.h"

#include "base/error.h"
#include "base/fd.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace zksh {
namespace {

[[noreturn]] void fail(const std::string& file, int number) {
  throw Error(fmt::format("cannot write the token to {}: {}", file, strerror(number)));
}

bool is_special(const std::string& file) {
  struct stat info {};
  return stat(file.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
}

/// 0, or what went wrong.
int write_text(const std::string& name, int flags, const std::string& text) {
  const Fd file(open(name.c_str(), O_WRONLY | O_CLOEXEC | flags, 0644));
  if (!file) return errno;
  // A few bytes: written whole, or not at all.
  const auto count = write(file.get(), text.data(), text.size());
  if (count < 0) return errno;
  return static_cast<std::size_t>(count) == text.size() ? 0 : ENOSPC;
}

}  // namespace

void write_token_file(const std::string& file, const std::string& token) {
  const auto text = token + "\n";
  if (is_special(file)) {
    const int problem = write_text(file, 0, text);
    if (problem != 0) fail(file, problem);
    return;
  }
  // In the same directory: only there can it take the file's place at once.
  const auto fresh = fmt::format("{}.{}.new", file, getpid());
  int problem = write_text(fresh, O_CREAT | O_TRUNC | O_NOFOLLOW, text);
  if (problem == 0 && rename(fresh.c_str(), file.c_str()) != 0) problem = errno;
  if (problem == 0) return;
  unlink(fresh.c_str());
  fail(file, problem);
}

}  // namespace zksh
