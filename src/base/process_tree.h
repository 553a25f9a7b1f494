// ProcessTree: lists the descendants of a process, without the heap.
#pragma once

#include <cstddef>
#include <span>
#include <sys/types.h>

namespace zksh {

/// Throws Error if /proc does not show this process and its children: it is not mounted, belongs to
/// another PID namespace, or does not list children. No descendant would then be found, or a
/// stranger with the same number would be.
void require_process_tree();

/// Reads /proc/PID/task/TID/children (proc(5)) of the processes in the tree only. Members are
/// async-signal-safe, so a forked child of a threaded process may use them. Used by one thread. A
/// returned span is valid until the next call. Lists at most 65536 processes.
///
/// A process whose parent ends during the search may be missing, so a caller that wants to end them
/// all must repeat the search until it finds none.
class ProcessTree {
 public:
  /// Throws std::system_error if there is no memory.
  ProcessTree();
  ProcessTree(const ProcessTree&) = delete;
  ProcessTree& operator=(const ProcessTree&) = delete;
  ~ProcessTree();

  /// The children of all threads of a process, including zombies.
  std::span<const pid_t> children(pid_t process);
  /// All descendants of a process, parents before their children.
  std::span<const pid_t> descendants(pid_t process);
  struct Stat {
    char state = 0;  ///< 'Z' for a zombie
    pid_t parent = 0;
  };
  /// From /proc/PID/stat (proc(5)); zeros if there is no such process, or it is not visible.
  static Stat stat(pid_t process);

 private:
  void add_children(pid_t process);
  void add_children(pid_t process, pid_t thread);

  pid_t* found_;
  std::size_t count_ = 0;
};

}  // namespace zksh
