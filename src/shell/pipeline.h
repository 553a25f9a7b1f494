// Pipeline: the lines of a script sent without waiting for each answer, results in their order.
#pragma once

#include "base/line_reader.h"
#include "shell/interpreter.h"

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>

namespace zksh {

struct PipeSettings {
  std::size_t window = 256;  ///< how many answers may be outstanding
  std::int64_t rate = 0;     ///< lines a second at most; 0: no limit
};

/// Runs the lines of `reader` up to their end, `quit` or a stop. A command that sends one request
/// (Command::start) does not wait for the answers of those before it, which the servers carry out
/// in order all the same; any other waits until all before it have ended. Results and errors are
/// printed in the order of the lines; errors name `name` and the line. A failure does not end the
/// run, but a missing connection does. When the input pauses, all is finished and printed.
///
/// When the connection is lost, each write that has no answer is told as one whose outcome is
/// unknown; a read is sent again, unless a write of a line behind it may have changed what it
/// reads.
///
/// Says at the end how many lines went well and how many failed. Returns the status of the first
/// failure, else 0. Blocks; on a job's thread. Throws Error when the input cannot be read.
int run_pipeline(Interpreter& interpreter, LineReader& reader, const std::string& name,
                 const PipeSettings& settings, const std::stop_token& stop);

}  // namespace zksh
