// Resource limits: what zksh needs of the machine, asked for before anything depends on it.
#include "base/resource_limits.h"

#include "base/error.h"
#include "base/fd.h"

#include <fmt/core.h>

#include <array>
#include <condition_variable>
#include <fcntl.h>
#include <mutex>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <system_error>
#include <thread>
#include <vector>

namespace zksh {
namespace {

// What a session, a lock and a program under it were seen to take, and some more.
constexpr std::size_t descriptors = 16;
constexpr std::size_t bytes = 32U << 20U;  // addresses; most of them are for four threads' stacks
constexpr std::size_t threads = 6;
/// Wider limits are not reached by zksh alone.
constexpr rlim_t many_descriptors = 256;
constexpr rlim_t many_threads = 4096;

template <class Resource>
rlim_t limit_of(Resource resource) {
  rlimit limit{};
  return getrlimit(resource, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

[[noreturn]] void refuse(const std::string& what) { throw Error(what, status::failure); }

void require_descriptors() {
  const auto limit = limit_of(RLIMIT_NOFILE);
  if (limit >= many_descriptors) return;
  std::vector<Fd> opened;
  while (opened.size() < descriptors) {
    opened.emplace_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (opened.back().get() >= 0) continue;
    refuse(fmt::format("too few files may be open here: zksh needs {} (ulimit -n says {})",
                       descriptors, limit));
  }
}

void require_memory() {
  const auto limit = limit_of(RLIMIT_AS);
  if (limit == RLIM_INFINITY) return;
  void* const room = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED)
    refuse(fmt::format("too little memory here: zksh needs {} MiB of addresses (ulimit -v says {})",
                       bytes >> 20U, limit >> 10U));
  munmap(room, bytes);
}

void require_threads() {
  const auto limit = limit_of(RLIMIT_NPROC);
  if (limit >= many_threads) return;
  std::mutex mutex;
  std::unique_lock all_there(mutex);  // all of them at the same time
  std::vector<std::jthread> started;
  try {
    while (started.size() < threads)
      started.emplace_back([&mutex] { const std::scoped_lock end(mutex); });
  } catch (const std::system_error&) {
    all_there.unlock();
    refuse(fmt::format("too few threads may run here: zksh needs {} (ulimit -u says {})", threads,
                       limit));
  }
  all_there.unlock();
}

}  // namespace

void require_resources() {
  require_descriptors();
  require_memory();
  require_threads();
}

}  // namespace zksh
