// Script: runs lines from -c, files or standard input.
#include "shell/script.h"

#include "base/line_reader.h"
#include "base/words.h"
#include "command/report.h"
#include "shell/pipeline.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace zksh {
namespace {

/// What to do after a line fails.
enum class AfterFailure {
  Stop,      ///< and say where on stderr, unless the script is a single command
  NameLine,  ///< on stderr, unless it is a single command, and continue
  GoOn,      ///< silently, as zkCli; but stop after a lock command
  Forget,    ///< continue silently; the last line's status counts, as in zkCli
};

/// A line of a file, or a command of -c, and where it stands.
struct Line {
  std::string text;
  std::size_t number = 0;   ///< the line's; in a -c of one line, the command's; 0: the only one
  std::size_t command = 0;  ///< the command's number on the line; 0: it has the line for itself
};

struct Lines {
  std::string name;  ///< the source's, for messages; empty: a single command
  std::function<bool(Line&)> next;
  std::function<bool()> last;  ///< whether certainly none is left
};

/// Numbers the commands of each line that has several.
void number_on_lines(std::vector<Line>& commands) {
  for (auto begin = commands.begin(); begin != commands.end();) {
    const auto end = std::find_if(begin, commands.end(), [&](const Line& command) {
      return command.number != begin->number;
    });
    if (end - begin > 1)
      for (auto one = begin; one != end; ++one)
        one->command = static_cast<std::size_t>(one - begin) + 1;
    begin = end;
  }
}

/// The commands of a text of -c.
std::vector<Line> commands_of(std::string_view text) {
  std::vector<Line> commands;
  for (const auto& part : parts_of(text, PartBy::Command)) {
    const auto command = trimmed(text.substr(part.begin, part.end - part.begin));
    if (is_blank_or_comment(command)) continue;
    const auto newlines = std::count(text.begin(), command.begin(), '\n');
    commands.push_back({std::string(command), static_cast<std::size_t>(newlines) + 1});
  }
  if (commands.empty()) return commands;
  if (commands.front().number != commands.back().number) {
    number_on_lines(commands);
    return commands;
  }
  // The number of the only line would say nothing.
  for (std::size_t i = 0; i < commands.size(); ++i)
    commands[i].number = commands.size() > 1 ? i + 1 : 0;
  return commands;
}

/// "script:7", "-c:2", "-c:3, command 2".
std::string place_text(const Lines& lines, const Line& line) {
  auto text = lines.name;
  if (line.number > 0) text += fmt::format(":{}", line.number);
  if (line.command > 0) text += fmt::format(", command {}", line.command);
  return text;
}

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
  int text(const std::string& text, const std::string& name) const;
  /// `name` is for messages about a text.
  int source(const ScriptSource& source, const std::string& name) const;
};

/// Runs and counts the lines of a source. An interrupted line is not a success.
int Run::lines(const Lines& lines) const {
  int first_failure = status::ok;
  Line line;
  while (goes_on() && lines.next(line)) {
    // Text errors are followed by a line that names the place.
    interpreter.output().set_place(
        {.source = lines.name,
         .line = lines.name.empty() ? 0 : std::max<std::size_t>(line.number, 1),
         .in_text = false});
    const int result = interpreter.run_line(line.text);
    if (after_failure == AfterFailure::Forget) {
      // Neither empty lines nor `quit` have a status.
      if (!line.text.empty() && !interpreter.quit()) first_failure = result;
      continue;
    }
    if (result == status::ok) continue;
    if (first_failure == status::ok) first_failure = result;
    if (after_failure == AfterFailure::GoOn && !was_about_locks()) continue;
    if (after_failure == AfterFailure::NameLine) {
      if (!lines.name.empty() && !out.json())
        out.err_line("{}: failed (status {})", place_text(lines, line), result);
      continue;
    }
    if (line.number > 0 && !stop.stop_requested() && !interpreter.ended_by())
      out.err_line("{}: stopped at the first failure (status {}); use --keep-going to continue",
                   place_text(lines, line), result);
    break;
  }
  return first_failure == status::ok && !lines.last() ? signal_status() : first_failure;
}

int Run::text(const std::string& text, const std::string& name) const {
  const auto commands = commands_of(text);
  auto at = commands.begin();
  return lines({.name = commands.size() > 1 || name != "-c" ? name : "",
                .next =
                    [&](Line& line) {
                      if (at == commands.end()) return false;
                      line = *at++;
                      return true;
                    },
                .last = [&] { return at == commands.end(); }});
}

int Run::source(const ScriptSource& source, const std::string& name) const {
  if (source.kind == ScriptSource::Kind::Text) return text(source.text, name);
  const bool from_file = source.text != "-";
  const int fd = from_file ? open(source.text.c_str(), O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
  if (fd < 0)
    throw UsageError(fmt::format("cannot read {}: {}", source.text, std::strerror(errno)));
  LineReader reader(fd, from_file, from_file ? source.text : "standard input", stop, line_end);
  const auto file = from_file ? source.text : "stdin";
  if (pipe) return run_pipeline(interpreter, reader, file, *pipe, stop);
  return lines({.name = file,
                .next =
                    [&](Line& line) {
                      ++line.number;
                      return reader.next(line.text);
                    },
                .last = [] { return false; }});
}

/// What messages call the texts of -c, in their order: "-c", or of several "-c#1" and so on.
std::vector<std::string> script_names(const std::vector<ScriptSource>& scripts) {
  const auto texts = std::ranges::count(scripts, ScriptSource::Kind::Text, &ScriptSource::kind);
  std::vector<std::string> names;
  std::size_t number = 0;
  for (const auto& script : scripts) {
    if (script.kind == ScriptSource::Kind::Text) ++number;
    names.push_back(texts > 1 ? fmt::format("-c#{}", number) : "-c");
  }
  return names;
}

}  // namespace

int run_scripts(Interpreter& interpreter, Output& out, const Arguments& arguments,
                const std::stop_token& stop) {
  auto scripts = arguments.scripts;
  const bool piped = scripts.empty();
  if (piped) scripts.push_back({.kind = ScriptSource::Kind::File, .text = "-"});
  const Run run{.interpreter = interpreter,
                .out = out,
                .after_failure = arguments.keep_going         ? AfterFailure::NameLine
                                 : piped && arguments.drop_in ? AfterFailure::Forget
                                 : piped                      ? AfterFailure::GoOn
                                                              : AfterFailure::Stop,
                .pipe = arguments.pipe,
                .line_end = piped ? LineEnd::AsInJava : LineEnd::Newline,
                .stop = stop};
  const auto names = script_names(scripts);
  int first_failure = status::ok;
  for (auto script = scripts.begin(); script != scripts.end(); ++script) {
    if (first_failure == status::ok) first_failure = run.signal_status();
    if (!run.goes_on()) break;
    const int result = reporting(out, [&] {
      return run.source(*script, names[static_cast<std::size_t>(script - scripts.begin())]);
    });
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
