// Processes that are no children of the unit tests, and what can only be looked at again and again.
#pragma once

#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <sys/types.h>
#include <thread>

namespace zksh {

/// Whether there is no process of this pid, or a zombie that its new parent has yet to reap.
inline bool gone(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string stat;
  std::getline(file, stat);
  return stat.empty() || stat.find(") Z") != std::string::npos;
}

/// Looks until it is so; false after a minute.
inline bool within_a_minute(const std::function<bool()>& reached) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!reached()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace zksh
