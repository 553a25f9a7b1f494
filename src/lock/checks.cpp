// LockChecks: the transactions by which a session proves that it still holds its locks.
#include "lock/checks.h"

#include <algorithm>

namespace zksh {

void LockChecks::add(const std::vector<std::string>& nodes) {
  nodes_.insert(nodes.begin(), nodes.end());
}

void LockChecks::remove(const std::vector<std::string>& nodes) {
  for (const auto& node : nodes) {
    if (const auto found = nodes_.find(node); found != nodes_.end()) nodes_.erase(found);
    gone_.erase(node);
    unreadable_.erase(node);
  }
}

std::shared_ptr<const LockChecks::Check> LockChecks::check(BootClock::duration interval) {
  const auto now = BootClock::now();
  if (latest_ && now - latest_->sent < interval / 2) return latest_;
  auto fresh = std::make_shared<Check>();
  fresh->sent = now;
  std::ranges::copy_if(nodes_, std::back_inserter(fresh->nodes), [&](const std::string& node) {
    return !gone_.contains(node) && !unreadable_.contains(node);
  });
  // Refused transactions need a quorum's agreement as well.
  if (fresh->nodes.empty() && !unreadable_.empty()) fresh->nodes.push_back(*unreadable_.begin());
  std::vector<Op> ops;
  ops.reserve(fresh->nodes.size());
  for (const auto& node : fresh->nodes) ops.emplace_back(CheckOp{.path = node});
  fresh->answer = client_.start_multi(ops);
  return latest_ = fresh;
}

int LockChecks::settle(const Check& check) {
  const auto outcome =
      client_.monitor().with_lock([&](const Monitor::Held& held) { return (*check.answer)(held); });
  for (std::size_t i = 0; i < std::min(check.nodes.size(), outcome->value.size()); ++i) {
    const int code = outcome->value[i].code;
    if (code == code::no_node) gone_.insert(check.nodes[i]);
    if (code == code::no_auth) unreadable_.insert(check.nodes[i]);
  }
  // Otherwise others would share it again.
  if (outcome->code == code::no_node && latest_.get() == &check) latest_ = nullptr;
  return outcome->code;
}

void LockChecks::read(BootClock::duration interval) {
  const auto now = BootClock::now();
  const bool recent = now - read_ < interval / 2 || (latest_ && now - latest_->sent < interval / 2);
  if (recent || nodes_.empty()) return;
  read_ = now;
  client_.start_exists(*nodes_.begin(), Watch::none());
}

}  // namespace zksh
