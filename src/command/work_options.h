// Work options: --window and --rate, of every command that may send many requests.
#pragma once

#include "client/work_limits.h"
#include "command/options.h"

#include <cstdint>
#include <optional>

namespace zksh {

/// What --window and --rate said.
struct WorkOptions {
  std::optional<std::int64_t> window{};
  std::optional<std::int64_t> rate{};

  /// Throws ValueError for a number that makes no sense.
  WorkLimits limits() const;
};
/// Declares --window and --rate.
void declare_work_limits(Options& options, WorkOptions& target);

}  // namespace zksh
