// Script: lines from -c, a file or standard input, run one after the other.
#pragma once

#include "base/line_reader.h"
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
  std::string text;                     ///< the commands, or the file's name
  LineEnd line_end = LineEnd::Newline;  ///< what is fed to zksh as to zkCli ends its lines as there
};

/// What follows a line that fails.
enum class AfterFailure {
  Stop,      ///< and a line on stderr says where, unless the script is a single command
  NameLine,  ///< on stderr, but for a single command, and go on
  GoOn,      ///< without a word, as zkCli does; but stop after a command about locks
};

/// Runs the lines until the end, `quit` or a stop, or the first that fails. Returns the status of
/// the first failure, else 0. Blocks; on a job's thread.
/// With `pipe`, see run_pipeline.
int run_script(Interpreter& interpreter, Output& out, const ScriptSource& source,
               AfterFailure after_failure, const std::optional<PipeSettings>& pipe,
               const std::stop_token& stop);

}  // namespace zksh
