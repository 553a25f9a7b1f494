// Script: lines from -c, a file or standard input, run one after the other.
#pragma once

#include "shell/interpreter.h"
#include "shell/pipeline.h"

#include <optional>
#include <stop_token>
#include <string>

namespace zksh {

/// Where lines come from.
struct ScriptSource {
  enum class Kind { Text, File, StandardInput };
  Kind kind = Kind::Text;
  std::string text;  ///< the commands, or the file's name
};

/// Runs the lines until the first that fails, the end, `quit` or a stop; with `keep_going` failures
/// do not end it. Returns the status of the first failure, else 0. Blocks; on a job's thread. A
/// failure is followed by a line on stderr that says where the script stopped, unless it is a
/// single command.
/// With `pipe`, see run_pipeline.
int run_script(Interpreter& interpreter, Output& out, const ScriptSource& source, bool keep_going,
               const std::optional<PipeSettings>& pipe, const std::stop_token& stop);

}  // namespace zksh
