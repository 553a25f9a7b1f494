// WatchdogProcess: the process that a LockWatchdog forks.
#pragma once

#include "base/process.h"
#include "base/time.h"
#include "lock/lock_watchdog.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <sys/mman.h>
#include <sys/types.h>
#include <system_error>
#include <vector>

namespace zksh {

struct WatchdogMemory;

/// Forks it, and returns its process id; it goes by what the memory says, and is woken through the
/// socket. All signals must be blocked. Throws std::system_error.
pid_t fork_watchdog(WatchdogMemory& memory, const Program& program, int socket);

/// Anonymous memory, all zero; `flags`: MAP_SHARED or MAP_PRIVATE. Throws std::system_error.
inline void* map_memory(std::size_t size, int flags) {
  void* const memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  return memory;
}

/// A time as a number that two processes can share: nanoseconds of BootClock.
inline std::int64_t count_of(BootClock::time_point time) { return time.time_since_epoch().count(); }
inline BootClock::time_point time_of(std::int64_t count) {
  return BootClock::time_point(std::chrono::nanoseconds(count));
}

/// Who changes something wakes the other one through the socket. It is mapped at the same place in
/// both.
struct WatchdogMemory {
  /// More than the kernel lets a program's arguments and environment have (execve(2)).
  static constexpr std::size_t size = std::size_t{8} << 20;

  enum class State : int { Idle, Wanted, Running, Failed };

  // zksh's:
  std::atomic<std::int64_t> kill_at = count_of(BootClock::time_point::max());
  std::atomic<std::int64_t> start_until = count_of(BootClock::time_point::max());
  std::atomic<LockWatchdog::Ending> ending = LockWatchdog::Ending::None;
  std::atomic<bool> group_told = false;  ///< zksh has sent SIGTERM to the program's group
  std::atomic<bool> leave = false;       ///< the watchdog is to end, whatever is left
  std::int64_t grace = 0;                ///< in nanoseconds; as all below, before State::Wanted
  bool has_terminal = false;
  const char* path = nullptr;
  char* const* argv = nullptr;
  char* const* shell_argv = nullptr;
  char* const* envp = nullptr;
  // Both's:
  std::atomic<State> state = State::Idle;
  // The watchdog's:
  std::atomic<int> problem = 0;  ///< errno of State::Failed; ECANCELED: it was too late
  std::atomic<pid_t> program = 0;
  std::atomic<int> status = -1;  ///< -1: it runs
  std::atomic<int> stop_signal = 0;
  std::atomic<int> left = 0;
  std::atomic<bool> gone = false;

  /// Copies behind this what a program is started with. False: it does not fit.
  bool take(const ProgramImage& image) {
    next_ = sizeof(WatchdogMemory);
    path = add(image.path);
    argv = add(image.argv);
    shell_argv = add(image.shell_argv);
    envp = add(image.envp);
    return path && argv && shell_argv && envp;
  }

 private:
  void* room_for(std::size_t wanted) {
    const auto at = (next_ + alignof(std::max_align_t) - 1) & ~(alignof(std::max_align_t) - 1);
    if (wanted > size - std::min(at, size)) return nullptr;
    next_ = at + wanted;
    return std::bit_cast<char*>(this) + at;
  }
  char* add(std::string_view text) {
    auto* const copy = static_cast<char*>(room_for(text.size() + 1));
    if (copy != nullptr) text.copy(copy, text.size());  // what follows is zero
    return copy;
  }
  char** add(const std::vector<char*>& words) {
    auto** const copy = static_cast<char**>(room_for(words.size() * sizeof(char*)));
    for (std::size_t i = 0; copy != nullptr && i + 1 < words.size(); ++i)
      if ((copy[i] = add(std::string_view(words[i]))) == nullptr) return nullptr;
    return copy;
  }

  std::size_t next_ = 0;
};

}  // namespace zksh
