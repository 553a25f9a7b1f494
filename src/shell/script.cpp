// Script: runs lines from -c, files or standard input.
#include "shell/script.h"

#include "base/line_reader.h"
#include "base/words.h"
#include "command/report.h"
#include "shell/pipeline.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <string>
#include <unistd.h>

namespace zksh {
namespace {

/// What to do after a line fails.
enum class AfterFailure {
  Stop,      ///< and say where on stderr, unless the script is a single command
  NameLine,  ///< on stderr, unless it is a single command, and continue
  GoOn,      ///< silently, as zkCli; but stop after a lock command
};

struct Lines {
  std::string name;  ///< the source's, for messages; empty: a single command
  std::function<bool(std::string&)> next;
  std::function<bool()> last;  ///< whether certainly none is left
};

/// What all sources of a run have in common.
struct Run {
  Interpreter& interpreter;
  Output& out;
  AfterFailure after_failure;
  const std::optional<PipeSettings>& pipe;
  LineEnd line_end;
  const std::stop_token& stop;

  bool goes_on() const { return !interpreter.quit() && !stop.stop_requested(); }
  /// The status of the signal that ended a program, and so the run.
  int signal_status() const {
    return interpreter.ended_by() ? status::signal_base + *interpreter.ended_by() : status::ok;
  }
  /// zkCli has no locks, and the lines after such a command may rely on holding one.
  bool was_about_locks() const {
    const auto* const command = command_named(interpreter.output().command());
    return command && command->group == "Locks";
  }
  int lines(const Lines& lines) const;
  int text(const std::string& text) const;
  int source(const ScriptSource& source) const;
};

/// Runs and counts the lines of a source. An interrupted line is not a success.
int Run::lines(const Lines& lines) const {
  int first_failure = status::ok;
  std::size_t number = 0;
  std::string line;
  while (goes_on() && lines.next(line)) {
    ++number;
    // Text errors are followed by a line that names the place.
    if (!lines.name.empty())
      interpreter.output().set_place({.source = lines.name, .line = number, .in_text = false});
    const int result = interpreter.run_line(line);
    if (result == status::ok) continue;
    if (first_failure == status::ok) first_failure = result;
    if (after_failure == AfterFailure::GoOn && !was_about_locks()) continue;
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
  return first_failure == status::ok && !lines.last() ? signal_status() : first_failure;
}

int Run::text(const std::string& text) const {
  const auto commands = split_commands(text);
  auto at = commands.begin();
  return lines({.name = commands.size() > 1 ? "-c" : "",
                .next =
                    [&](std::string& line) {
                      if (at == commands.end()) return false;
                      line = *at++;
                      return true;
                    },
                .last = [&] { return at == commands.end(); }});
}

int Run::source(const ScriptSource& source) const {
  if (source.kind == ScriptSource::Kind::Text) return text(source.text);
  const bool from_file = source.text != "-";
  const int fd = from_file ? open(source.text.c_str(), O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
  if (fd < 0)
    throw UsageError(fmt::format("cannot read {}: {}", source.text, std::strerror(errno)));
  LineReader reader(fd, from_file, from_file ? source.text : "standard input", stop, line_end);
  const auto name = from_file ? source.text : "stdin";
  if (pipe) return run_pipeline(interpreter, reader, name, *pipe, stop);
  return lines({.name = name,
                .next = [&](std::string& line) { return reader.next(line); },
                .last = [] { return false; }});
}

}  // namespace

int run_scripts(Interpreter& interpreter, Output& out, const Arguments& arguments,
                const std::stop_token& stop) {
  auto scripts = arguments.scripts;
  const bool piped = scripts.empty();
  if (piped) scripts.push_back({.kind = ScriptSource::Kind::File, .text = "-"});
  const Run run{.interpreter = interpreter,
                .out = out,
                .after_failure = arguments.keep_going ? AfterFailure::NameLine
                                 : piped              ? AfterFailure::GoOn
                                                      : AfterFailure::Stop,
                .pipe = arguments.pipe,
                .line_end = piped ? LineEnd::AsInJava : LineEnd::Newline,
                .stop = stop};
  int first_failure = status::ok;
  for (auto script = scripts.begin(); script != scripts.end(); ++script) {
    if (first_failure == status::ok) first_failure = run.signal_status();
    if (!run.goes_on()) break;
    const int result = reporting(out, [&] { return run.source(*script); });
    if (first_failure == status::ok) first_failure = result;
    if (first_failure == status::ok || run.after_failure != AfterFailure::Stop) continue;
    if (const auto left = scripts.end() - script - 1; left > 0 && !interpreter.ended_by())
      out.err_line(
          "{} more -c or -f {} not run after a failure (status {}); use --keep-going to continue",
          left, left == 1 ? "was" : "were", first_failure);
    break;
  }
  return first_failure;
}

}  // namespace zksh
