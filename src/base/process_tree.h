// ProcessTree: the processes that descend from a process.
#pragma once

#include <cstddef>
#include <span>
#include <sys/types.h>

namespace zksh {

/// Looks through /proc/PID/task/TID/children (proc(5)), and at nothing but the tree that is asked
/// for. Members are async-signal-safe: for a fork of a process with threads, too. Used by one
/// thread. What they return lasts until the next call. More than 65536 processes are not told.
///
/// A process whose parent ends while this looks may be missing. So who is to end them all looks
/// again until there is none.
class ProcessTree {
 public:
  /// Throws std::system_error when there is no memory.
  ProcessTree();
  ProcessTree(const ProcessTree&) = delete;
  ProcessTree& operator=(const ProcessTree&) = delete;
  ~ProcessTree();

  /// The children of all threads of a process, those included that have ended and that it has not
  /// taken note of yet.
  std::span<const pid_t> children(pid_t process);
  /// All that descends from a process, a parent before its children.
  std::span<const pid_t> descendants(pid_t process);
  /// The state of a process as in /proc/PID/stat ('Z': it has ended); 0 when there is none.
  static char state(pid_t process);

 private:
  void add_children(pid_t process);
  void add_children(pid_t process, pid_t thread);

  pid_t* found_;
  std::size_t count_ = 0;
};

}  // namespace zksh
