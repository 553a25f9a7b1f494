// PipedProgram: runs a program whose input is given and whose output is passed on.
#pragma once

#include "base/monitor.h"

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zksh {

struct PipedProgram {
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> environment{};  ///< added to zksh's own
  std::string input{};
  /// Get what it writes to its standard output and error, in pieces, on the caller's thread.
  std::function<void(std::string_view)> out{};
  std::function<void(std::string_view)> err{};
};

/// Returns the program's exit status (128 + n: ended by signal n). Blocks until it has ended; what
/// it leaves behind in the background is not waited for. A stop ends it with SIGTERM, after two
/// seconds with SIGKILL, and throws Cancelled. Throws Error when it cannot be run.
int run_piped(Monitor& monitor, const PipedProgram& program, const std::stop_token& stop);

}  // namespace zksh
