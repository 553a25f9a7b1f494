// PerSession: what the thread of a connection and a session's users share, found by the session's
// id.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace zksh {

/// It lives as long as somebody has it. From any thread.
template <class T>
class PerSession {
 public:
  std::shared_ptr<T> of(std::int64_t session) {
    const std::lock_guard lock(mutex_);
    auto& known = all_[session];
    auto one = known.lock();
    if (one) return one;
    std::erase_if(
        all_, [&](const auto& entry) { return entry.second.expired() && entry.first != session; });
    one = std::make_shared<T>();
    all_[session] = one;
    return one;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::int64_t, std::weak_ptr<T>> all_;
};

}  // namespace zksh
