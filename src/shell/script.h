// Script: runs lines from -c, files or standard input, with --pipe without waiting for each answer.
#pragma once

#include "base/line_reader.h"
#include "shell/arguments.h"
#include "shell/interpreter.h"

#include <stop_token>
#include <string>

namespace zksh {

/// Runs the lines of `reader` until the end, `quit` or a stop. A command that sends one request
/// (Command::start) does not wait for the answers of earlier ones, which the servers process in
/// order anyway; any other command waits until all before it have ended. Results and errors are
/// printed in the order of the lines; errors name `name` and the line. A failure does not end the
/// run, but a missing connection does. When the input pauses, everything is finished and printed.
///
/// If the connection is lost, the outcome of each unanswered write is reported as unknown; a read
/// is sent again unless a write in a later line may have changed what it reads.
///
/// At the end, reports how many lines succeeded and how many failed. Returns the status of the
/// first failure, else 0. Blocks; called on a job's thread. Throws Error if the input cannot be
/// read.
int run_pipeline(Interpreter& interpreter, LineReader& reader, const std::string& name,
                 const PipeSettings& settings, const std::stop_token& stop);

/// Runs the lines of the arguments' scripts, or else of standard input, until the end, `quit`, a
/// stop, or the first failure; with --keep-going, and on standard input as in zkCli, failures do
/// not end the run. Says on `out` where it ended early. Returns the status of the first failure,
/// else 0. Blocks; called on a job's thread. With `pipe`, see run_pipeline.
int run_scripts(Interpreter& interpreter, Output& out, const Arguments& arguments,
                const std::stop_token& stop);

}  // namespace zksh
