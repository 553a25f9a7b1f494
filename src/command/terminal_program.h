// TerminalProgram: runs a program that has the terminal for itself, such as an editor.
#pragma once

#include "command/command.h"

#include <string>
#include <vector>

namespace zksh {

/// Runs a program in a process group of its own with zksh's standard streams and, where zksh has
/// it, the terminal; but with an empty input where zksh's own commands come from standard input.
/// Returns its exit status (128 + n: ended by signal n). Blocks until it has ended.
///
/// Signals that would end zksh go to the program instead. A program that is stopped by its terminal
/// (Ctrl-Z) stops zksh too, and goes on with it. A stop of the command ends the program with
/// SIGTERM, after two seconds with SIGKILL, and throws Cancelled; zksh's own end by SIGKILL sends
/// it SIGTERM. In any case the terminal is zksh's again, with the modes it had. Throws Error with
/// status 126 or 127 when the program cannot be run.
int run_on_terminal(Context& cx, const std::vector<std::string>& words);

}  // namespace zksh
