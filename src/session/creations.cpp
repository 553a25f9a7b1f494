// Creations: a queue from the wire to the completions.
#include "session/creations.h"

#include "session/session_lease.h"

#include <algorithm>

namespace zksh {

void Creations::answered(std::string_view path, std::int64_t zxid) {
  const std::lock_guard lock(mutex_);
  if (creations_.size() == longest) creations_.pop_front();
  creations_.push_back({.path = std::string(path), .zxid = zxid});
}

std::int64_t Creations::take(std::string_view path) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(
      creations_, [&](const Creation& creation) { return creation.path.ends_with(path); });
  if (found == creations_.end()) return 0;
  const auto zxid = found->zxid;
  creations_.erase(creations_.begin(), std::next(found));
  return zxid;
}

std::shared_ptr<Creations> creations_of(std::int64_t session) {
  static PerSession<Creations> all;
  return all.of(session);
}

}  // namespace zksh
