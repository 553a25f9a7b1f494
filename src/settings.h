// Settings: what can be switched while zksh runs.
#pragma once

#include <atomic>

namespace zksh {

struct Settings {
  /// Whether watch events are printed. Read on the C client's threads too.
  std::atomic<bool> print_watches{true};
};

}  // namespace zksh
