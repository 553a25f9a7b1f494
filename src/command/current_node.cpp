// CurrentNode: the node that relative paths start from. Servers see absolute paths only.
#include "command/current_node.h"

#include <utility>

namespace zksh {

CurrentNode::CurrentNode(const CurrentNode& other)
    : monitor_(other.monitor_),
      state_(monitor_.with_lock([&](const Monitor::Held& held) { return other.state_(held); })) {}

std::string CurrentNode::path() const {
  return monitor_.with_lock([&](const Monitor::Held& held) { return state_(held).path; });
}

std::optional<std::string> CurrentNode::previous() const {
  return monitor_.with_lock([&](const Monitor::Held& held) { return state_(held).previous; });
}

void CurrentNode::go_to(const std::string& path) {
  monitor_.change([&](const Monitor::Held& held) {
    auto& state = state_(held);
    state.previous = std::exchange(state.path, path);
  });
}

void CurrentNode::reset() {
  monitor_.change([&](const Monitor::Held& held) { state_(held) = {}; });
}

}  // namespace zksh
