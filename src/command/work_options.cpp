// WorkOptions: the options --window and --rate of commands that may send many requests.
#include "command/work_options.h"

#include "base/error.h"

namespace zksh {

void declare_work_limits(Options& options, WorkOptions& target) {
  options.common().number(
      "--window", target.window, "requests",
      "Maximum number of requests in flight, from 1 to 65536; by default 256, and "
      "more if the servers are far away.");
  options.common().number(
      "--rate", target.rate, "requests/s",
      "Maximum number of requests per second; each operation of a transaction counts, and each "
      "read of several that go together.");
}

void declare_walk(Options& options, WalkOptions& target) {
  declare_work_limits(options, target.limits);
  options.nodes("path", target.tops, "The tops of the subtrees; by default the current node.",
                false);
}

WorkLimits WorkOptions::limits() const {
  constexpr std::int64_t widest = 65536;
  constexpr std::int64_t fastest = 1'000'000'000;
  WorkLimits limits;
  if (window) {
    if (*window < 1 || *window > widest) throw ValueError("--window must be between 1 and 65536");
    limits.window = static_cast<std::size_t>(*window);
  }
  if (rate) {
    if (*rate < 1 || *rate > fastest) throw ValueError("--rate must be at least 1");
    limits.rate = static_cast<std::size_t>(*rate);
  }
  return limits;
}

}  // namespace zksh
