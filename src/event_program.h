// EventProgram: runs a program for an event, and passes on what it says.
#pragma once

#include "command.h"

#include <string>
#include <utility>
#include <vector>

namespace zksh {

/// Runs `shell_text` by /bin/sh -c, with `environment` added to zksh's own and `input` as its
/// standard input; what it writes goes to cx.out. Returns its exit status (128 + n: ended by signal
/// n). Blocks until it has ended; what it leaves behind in the background is not waited for. A stop
/// ends it with SIGTERM, after two seconds with SIGKILL, and throws Cancelled.
int run_event_program(Context& cx, const std::string& shell_text,
                      std::vector<std::pair<std::string, std::string>> environment,
                      const std::string& input);

}  // namespace zksh
