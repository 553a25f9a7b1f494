// HeldLock: a lock that is given back on every way out, and not while a program runs under it.
#pragma once

#include "lock/lock_table.h"

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

/// A lock while a program runs under it: until then it is not given back.
class OccupiedLock {
 public:
  explicit OccupiedLock(Lock& lock) : lock_(lock), occupied_(lock.occupy()) {}
  OccupiedLock(const OccupiedLock&) = delete;
  OccupiedLock& operator=(const OccupiedLock&) = delete;
  ~OccupiedLock() { vacate(); }

  /// False: it is lost, or was given back before it could be occupied.
  explicit operator bool() const { return occupied_; }
  void vacate() {
    if (std::exchange(occupied_, false)) lock_.vacate();
  }

 private:
  Lock& lock_;
  bool occupied_;
};

}  // namespace zksh
