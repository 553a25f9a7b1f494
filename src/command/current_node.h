// CurrentNode: the node that relative paths start from. Servers see absolute paths only.
#pragma once

#include "base/monitor.h"

#include <optional>
#include <string>

namespace zksh {

/// Members may be called from any thread.
class CurrentNode {
 public:
  explicit CurrentNode(Monitor& monitor) : monitor_(monitor) {}
  /// An independent copy, like the working directory of a forked process.
  CurrentNode(const CurrentNode& other);
  CurrentNode& operator=(const CurrentNode&) = delete;
  ~CurrentNode() = default;

  /// Absolute; initially "/".
  std::string path() const;
  /// The node before the last go_to; nullopt before the first.
  std::optional<std::string> previous() const;
  /// `path` must be absolute and valid.
  void go_to(const std::string& path);
  /// Back to the initial state, when the session's tree is another one.
  void reset();

 private:
  struct State {
    std::string path = "/";
    std::optional<std::string> previous{};
  };

  Monitor& monitor_;
  Guarded<State> state_;
};

}  // namespace zksh
