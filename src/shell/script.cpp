// Script: runs lines from -c, a file or standard input.
#include "shell/script.h"

#include "base/line_reader.h"
#include "base/words.h"
#include "command/report.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <unistd.h>

namespace zksh {
namespace {

struct Lines {
  std::string name;  ///< the source's, for messages
  std::function<bool(std::string&)> next;
  std::function<bool()> last;  ///< whether certainly none is left
};

/// zkCli has no locks, and the lines after such a command may rely on holding one.
bool was_about_locks(Interpreter& interpreter) {
  const auto* const command = command_named(interpreter.output().command());
  return command && command->group == "Locks";
}

/// Runs and counts the lines of a source. An interrupted line is not a success.
int run_lines(Interpreter& interpreter, Output& out, const Lines& lines, AfterFailure after_failure,
              const std::stop_token& stop) {
  int first_failure = status::ok;
  std::size_t number = 0;
  std::string line;
  while (!stop.stop_requested() && !interpreter.quit() && lines.next(line)) {
    ++number;
    // Text errors are followed by a line that names the place.
    if (!lines.name.empty())
      interpreter.output().set_place({.source = lines.name, .line = number, .in_text = false});
    const int result = interpreter.run_line(line);
    if (result == status::ok) continue;
    if (first_failure == status::ok) first_failure = result;
    if (after_failure == AfterFailure::GoOn && !was_about_locks(interpreter)) continue;
    if (after_failure == AfterFailure::NameLine) {
      if (!lines.name.empty() && !out.json())
        out.err_line("{}:{}: failed (status {})", lines.name, number, result);
      continue;
    }
    if (!lines.name.empty() && !stop.stop_requested() && !interpreter.ended_by())
      out.err_line("{}:{}: stopped at the first failure (status {}); use --keep-going to continue",
                   lines.name, number, result);
    break;
  }
  if (first_failure == status::ok && interpreter.ended_by() && !lines.last())
    return status::signal_base + *interpreter.ended_by();
  return first_failure;
}

int run_text(Interpreter& interpreter, Output& out, const std::string& text,
             AfterFailure after_failure, const std::stop_token& stop) {
  const auto commands = split_commands(text);
  std::size_t at = 0;
  const auto next = [&](std::string& line) {
    if (at == commands.size()) return false;
    line = commands[at++];
    return true;
  };
  return run_lines(interpreter, out,
                   {.name = commands.size() > 1 ? "-c" : "",
                    .next = next,
                    .last = [&] { return at == commands.size(); }},
                   after_failure, stop);
}

}  // namespace

int run_script(Interpreter& interpreter, Output& out, const ScriptSource& source,
               AfterFailure after_failure, const std::optional<PipeSettings>& pipe,
               const std::stop_token& stop) {
  return reporting(out, [&] {
    if (source.kind == ScriptSource::Kind::Text)
      return run_text(interpreter, out, source.text, after_failure, stop);
    const bool from_file = source.kind == ScriptSource::Kind::File;
    const int fd = from_file ? open(source.text.c_str(), O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    if (fd < 0)
      throw UsageError(fmt::format("cannot read {}: {}", source.text, std::strerror(errno)));
    LineReader reader(fd, from_file, from_file ? source.text : "standard input", stop,
                      source.line_end);
    const auto name = from_file ? source.text : "stdin";
    if (pipe) return run_pipeline(interpreter, reader, name, *pipe, stop);
    return run_lines(interpreter, out,
                     {.name = name,
                      .next = [&](std::string& line) { return reader.next(line); },
                      .last = [] { return false; }},
                     after_failure, stop);
  });
}

}  // namespace zksh
