// CurrentNode: where relative paths begin, in zksh's own mind: the servers see absolute paths.
#pragma once

#include "base/monitor.h"

#include <optional>
#include <string>

namespace zksh {

/// Members may be called from any thread.
class CurrentNode {
 public:
  explicit CurrentNode(Monitor& monitor) : monitor_(monitor) {}
  /// A copy that goes its own way from here, as the directory of a process that is started does.
  CurrentNode(const CurrentNode& other);
  CurrentNode& operator=(const CurrentNode&) = delete;
  ~CurrentNode() = default;

  /// Absolute; "/" at first.
  std::string path() const;
  /// Where the last go_to left from; none before the first.
  std::optional<std::string> previous() const;
  /// `path`: absolute and well-formed.
  void go_to(const std::string& path);
  /// "/" again, as before the first go_to: another tree is behind the session.
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
