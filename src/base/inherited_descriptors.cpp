// InheritedDescriptors: the descriptors above 2 that zksh was started with.
#include "base/inherited_descriptors.h"

#include <algorithm>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

namespace zksh {
namespace {

std::vector<int> find() {
  std::vector<int> found;
  DIR* const directory = opendir("/proc/self/fd");
  if (directory == nullptr) return found;
  // One thread runs yet. NOLINTNEXTLINE(concurrency-mt-unsafe)
  while (const dirent* const entry = readdir(directory)) {
    const int fd = std::atoi(entry->d_name);  // 0 of "." and ".."
    const int flags = fd > STDERR_FILENO ? fcntl(fd, F_GETFD) : -1;
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) found.push_back(fd);
  }
  closedir(directory);
  std::ranges::sort(found);
  return found;
}

}  // namespace

const std::vector<int>& inherited_descriptors() {
  static const std::vector<int> all = find();
  return all;
}

}  // namespace zksh
