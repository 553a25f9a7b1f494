// WorkOptions: the options --window and --rate of commands that may send many requests.
#pragma once

#include "client/work_limits.h"
#include "command/options.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zksh {

/// The values of --window and --rate.
struct WorkOptions {
  std::optional<std::int64_t> window{};
  std::optional<std::int64_t> rate{};

  /// Throws ValueError if a number is out of range.
  WorkLimits limits() const;
};
/// Declares --window and --rate.
void declare_work_limits(Options& options, WorkOptions& target);

/// The arguments of commands that walk subtrees.
struct WalkOptions {
  WorkOptions limits{};
  std::vector<std::string> tops{};  ///< for Context::resolve_all_or_current
};
/// Declares them; call it last.
void declare_walk(Options& options, WalkOptions& target);

}  // namespace zksh
