// WorkOptions: the options --window and --rate of commands that may send many requests.
#pragma once

#include "client/work_limits.h"
#include "command/options.h"

#include <cstdint>
#include <optional>

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

}  // namespace zksh
