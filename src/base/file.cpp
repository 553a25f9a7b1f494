// File: file names that begin with ~, and reading whole files.
#include "base/file.h"

#include "base/error.h"
#include "base/fd.h"

#include <fmt/core.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace zksh {
namespace {

constexpr std::size_t most_bytes = 64U << 20U;

[[noreturn]] void fail_on(const std::string& name) {
  throw ValueError(fmt::format("cannot read {}: {}", name, std::strerror(errno)));
}

}  // namespace

std::string with_home(std::string name) {
  const char* const home = std::getenv("HOME");
  if (home && name.starts_with("~/")) name.replace(0, 1, home);
  return name;
}

std::string read_all(int fd, const std::string& name) {
  std::string bytes;
  std::array<char, 1U << 16U> block;
  while (true) {
    const auto count = read(fd, block.data(), block.size());
    if (count == 0) return bytes;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_on(name);
    bytes.append(block.data(), static_cast<std::size_t>(count));
    if (bytes.size() > most_bytes)
      throw ValueError(fmt::format("{} is larger than {} MiB", name, most_bytes >> 20U));
  }
}

std::string read_file(const std::string& name) {
  const Fd file(open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) fail_on(name);
  return read_all(file.get(), name);
}

}  // namespace zksh
