// Script: runs lines from -c, files or standard input, with --pipe without waiting for each answer.
#pragma once

#include "shell/arguments.h"
#include "shell/interpreter.h"

#include <stop_token>

namespace zksh {

/// Runs the lines of the arguments' scripts, or else of standard input, until the end, `quit`, a
/// stop, or the first failure; with --keep-going, and on standard input as in zkCli, failures do
/// not end the run. Says on `out` where it ended early. Returns the status of the first failure,
/// else 0. Blocks; called on a job's thread. With `pipe`, sends the lines without waiting for each
/// answer.
int run_scripts(Interpreter& interpreter, Output& out, const Arguments& arguments,
                const std::stop_token& stop);

}  // namespace zksh
