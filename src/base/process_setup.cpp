// Process setup: the resource limits, descriptors and environment that zksh was started with, and
// the command line that others see.
#include "base/process_setup.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/number.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <span>
#include <sys/mman.h>
#include <sys/resource.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace zksh {
namespace {

// What a session, a lock and a program under it were measured to need, and some more.
constexpr std::size_t descriptors = 16;
constexpr std::size_t room_bytes = 32U
                                   << 20U;  // of address space, most of it for four threads' stacks
constexpr std::size_t threads = 6;
/// zksh alone never reaches limits above these.
constexpr rlim_t many_descriptors = 256;
constexpr rlim_t many_threads = 4096;

template <class Resource>
rlim_t limit_of(Resource resource) {
  rlimit limit{};
  return getrlimit(resource, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

void require_descriptors() {
  const auto limit = limit_of(RLIMIT_NOFILE);
  if (limit >= many_descriptors) return;
  std::vector<Fd> opened;
  while (opened.size() < descriptors) {
    opened.emplace_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (opened.back().get() >= 0) continue;
    opened.pop_back();
    throw Error(fmt::format("the limit on open files is too low: zksh needs {} (ulimit -n is {})",
                            limit + descriptors - opened.size(), limit));
  }
}

/// The size of this process's address space in bytes; 0 if it is not known.
rlim_t size_now() {
  std::ifstream file("/proc/self/statm");
  rlim_t pages = 0;
  return file >> pages ? pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) : 0;
}

void require_memory() {
  const auto limit = limit_of(RLIMIT_AS);
  if (limit == RLIM_INFINITY) return;
  void* const room = mmap(nullptr, room_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED)
    throw Error(fmt::format(
        "the memory limit is too low: zksh needs {} KiB of address space (ulimit -v is {})",
        (size_now() + room_bytes) >> 10U, limit >> 10U));
  munmap(room, room_bytes);
}

}  // namespace

void require_threads(std::size_t count, const char* for_what) {
  const auto limit = limit_of(RLIMIT_NPROC);
  const auto room = limit_of(RLIMIT_AS);
  if (limit >= many_threads && room == RLIM_INFINITY) return;
  std::mutex mutex;
  std::unique_lock all_there(mutex);  // holds them until all have started
  std::vector<std::jthread> started;
  try {
    while (started.size() < count)
      started.emplace_back([&mutex] { const std::scoped_lock end(mutex); });
  } catch (const std::system_error&) {
    all_there.unlock();
    const auto reason = limit >= many_threads ? fmt::format("ulimit -v is {}", room >> 10U)
                                              : fmt::format("ulimit -u is {}", limit);
    throw Error(fmt::format("the limit on threads is too low: {} needs {} more ({})", for_what,
                            count, reason));
  }
  all_there.unlock();
}

void require_resources() {
  require_descriptors();
  require_memory();
  if (limit_of(RLIMIT_NPROC) < many_threads) require_threads(threads, "zksh");
}

std::vector<int> inherited_descriptors() {
  std::vector<int> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const auto fd = number_in<int>(entry.path().filename().string()).value_or(-1);
    const int flags = fd > STDERR_FILENO ? fcntl(fd, F_GETFD) : -1;
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) found.push_back(fd);
  }
  return found;
}

namespace {

std::span<char> all_room;
std::size_t words_room = 0;

/// The end of the strings that follow each other in memory from `begin` on.
char* end_of_strings(char* const* strings, char* begin) {
  for (; *strings == begin && begin != nullptr; ++strings) begin += std::strlen(begin) + 1;
  return begin;
}

}  // namespace

std::string environment(const char* name, std::string_view otherwise) {
  const char* const value = std::getenv(name);
  return std::string(value != nullptr && *value != '\0' ? value : otherwise);
}

void remember_command_line(char** argv) {
  char* const begin = *argv;
  char* const words_end = end_of_strings(argv, begin);
  words_room = static_cast<std::size_t>(words_end - begin);
  all_room = {begin, end_of_strings(environ, words_end)};
}

// The kernel shows the whole area of the words, or, if the last byte there is not zero, the text
// from its beginning to the first zero, even if that lies in the area of the environment (proc(5),
// setproctitle).
void replace_command_line(std::string_view text) {
  if (all_room.empty()) return;
  std::fill_n(all_room.begin(), words_room, '\0');
  const auto size = text.copy(all_room.data(), all_room.size() - 1);
  all_room[size] = '\0';
}

}  // namespace zksh
