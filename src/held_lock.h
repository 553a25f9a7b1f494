// HeldLock: a lock that is given back on every way out.
#pragma once

#include "lock_table.h"

#include <chrono>
#include <utility>

namespace zksh {

/// Releases a lock at its end at the latest. When no server answers, the release is waited for only
/// so long: the table goes on with it, and the end of the session does it in the end.
class HeldLock {
 public:
  HeldLock(LockTable& table, Lock& lock) : table_(table), lock_(&lock) {}
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;
  ~HeldLock() {
    if (lock_ != nullptr) give_back();
  }

  /// Once.
  void give_back() {
    constexpr std::chrono::seconds patience{3};
    lock_->release();
    table_.await_gone(*std::exchange(lock_, nullptr), Clock::now() + patience, {});
  }

 private:
  LockTable& table_;
  Lock* lock_;
};

}  // namespace zksh
