// Processes that are no children of the unit tests.
#pragma once

#include <fstream>
#include <string>
#include <sys/types.h>

namespace zksh {

/// Whether there is no process of this pid, or a zombie that its new parent has yet to reap.
inline bool gone(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string stat;
  std::getline(file, stat);
  return stat.empty() || stat.find(") Z") != std::string::npos;
}

}  // namespace zksh
