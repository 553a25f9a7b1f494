// Script: runs lines from -c, a file or standard input.
#pragma once

#include "base/line_reader.h"
#include "shell/interpreter.h"
#include "shell/pipeline.h"

#include <optional>
#include <stop_token>
#include <string>

namespace zksh {

/// A source of lines.
struct ScriptSource {
  enum class Kind { Text, File, StandardInput };
  Kind kind = Kind::Text;
  std::string text;                     ///< the commands, or the file's name
  LineEnd line_end = LineEnd::Newline;  ///< piped input has zkCli's line ends
};

/// What to do after a line fails.
enum class AfterFailure {
  Stop,      ///< and say where on stderr, unless the script is a single command
  NameLine,  ///< on stderr, unless it is a single command, and continue
  GoOn,      ///< silently, as zkCli; but stop after a lock command
};

/// Runs the lines until the end, `quit`, a stop, or the first failure, depending on
/// `after_failure`. Returns the status of the first failure, else 0. Blocks; called on a job's
/// thread. With `pipe`, see run_pipeline.
int run_script(Interpreter& interpreter, Output& out, const ScriptSource& source,
               AfterFailure after_failure, const std::optional<PipeSettings>& pipe,
               const std::stop_token& stop);

}  // namespace zksh
