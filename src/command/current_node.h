// CurrentNode: the node that relative paths start from. Servers see absolute paths only.
#pragma once

#include "base/monitor.h"

#include <optional>
#include <string>
#include <utility>

namespace zksh {

/// Members may be called from any thread.
class CurrentNode {
 public:
  explicit CurrentNode(Monitor& monitor) : monitor_(monitor) {}
  /// An independent copy, like the working directory of a forked process.
  CurrentNode(const CurrentNode& other) : monitor_(other.monitor_), state_(other.state()) {}
  CurrentNode& operator=(const CurrentNode&) = delete;
  ~CurrentNode() = default;

  /// Absolute; initially "/".
  std::string path() const { return state().path; }
  /// The node before the last go_to; nullopt before the first.
  std::optional<std::string> previous() const { return state().previous; }
  /// `path` must be absolute and valid.
  void go_to(const std::string& path) {
    monitor_.change([&](const Monitor::Held& held) {
      auto& state = state_(held);
      state.previous = std::exchange(state.path, path);
    });
  }
  /// Returns to the initial state, for a session with another tree.
  void reset() {
    monitor_.change([&](const Monitor::Held& held) { state_(held) = {}; });
  }

 private:
  struct State {
    std::string path = "/";
    std::optional<std::string> previous{};
  };

  State state() const {
    return monitor_.with_lock([&](const Monitor::Held& held) { return state_(held); });
  }

  Monitor& monitor_;
  Guarded<State> state_;
};

}  // namespace zksh
