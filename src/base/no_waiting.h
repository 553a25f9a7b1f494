// NoWaiting: marks a thread that must not wait, and ends the process when it would.
#pragma once

namespace zksh {

/// While one lives, its thread must not wait for another one: those on which the C client tells
/// answers and events, which are joined by whoever closes that client. Whatever can wait says so
/// (`refuse`), so that a mistake shows the first time its way is gone, not when two threads happen
/// to wait for each other while a lock is held.
class NoWaiting {
 public:
  NoWaiting() { ++depth; }
  NoWaiting(const NoWaiting&) = delete;
  NoWaiting& operator=(const NoWaiting&) = delete;
  ~NoWaiting() { --depth; }

  /// Ends the process, with `what` on stderr, when this thread must not wait.
  static void refuse(const char* what) {
    if (depth > 0) fail(what);
  }

 private:
  [[noreturn]] static void fail(const char* what);
  static thread_local inline int depth = 0;
};

}  // namespace zksh
