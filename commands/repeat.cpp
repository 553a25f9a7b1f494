// repeat: run a command repeatedly.
#include "base/time.h"
#include "command/command.h"

#include <chrono>

namespace zksh::command_repeat {
namespace {

struct Args {
  std::optional<std::string> every;
  bool keep_going = false;
  std::vector<std::string> words;
};

void declare(Options& o, Args& a) {
  o.text("--every", a.every, "The time between two starts (500ms, 2s; a plain number is seconds).",
         "time");
  o.flag("--keep-going", a.keep_going, "Continue after failures.");
  o.command_line("[count] command", a.words,
                 "How many times (default: forever), then the command with its own options.");
}

int run(Context& cx, const Args& a) {
  std::int64_t left = INT64_MAX;
  auto command = a.words.begin();
  if (is_number(*command)) left = parse_number(*command++, "count", 1, INT32_MAX);
  if (command == a.words.end()) throw SyntaxError("too few arguments: command expected");
  const auto repeated = cx.given.of_last(static_cast<std::size_t>(a.words.end() - command));
  if (!repeated.command) throw UsageError(fmt::format("\"{}\" is not a command", repeated.name));
  const auto every = a.every ? parse_duration(*a.every, "--every") : std::chrono::milliseconds(0);
  int first_failure = status::ok;
  for (auto begin = Clock::now(); left > 0; begin += every) {
    // Skips times that have passed meanwhile.
    begin = std::max(begin, Clock::now() - every);
    cx.monitor().pause_until(cx.stop, begin);
    const int result = cx.run_other(repeated);
    if (first_failure == status::ok) first_failure = result;
    if (first_failure != status::ok && !a.keep_going) break;
    --left;
  }
  return first_failure;
}

}  // namespace

extern const Command repeat_command = make_command<Args>(
    {.name = "repeat",
     .group = "Shell",
     .summary = "Run a command repeatedly",
     .keywords = {"loop", "\\watch", "for", "while"},
     .details =
         "Without a count, runs until Ctrl-C. It stops at the first failure and returns that "
         "status. A run that takes longer than --every is followed by the next at once.",
     .examples = {{"repeat 2 --every 10ms stat /app", "Look twice."},
                  {"repeat 3 create -s /app/n", "Create three sequential nodes."}},
     .needs = Needs::Nothing},
    declare, run);
}  // namespace zksh::command_repeat
