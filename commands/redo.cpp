// redo: run a line of the history again.
#include "base/words.h"
#include "command/command.h"
#include "command/line_history.h"

namespace zksh::command_redo {
namespace {

struct Args {
  std::optional<std::int32_t> number;
};

void declare(Options& o, Args& a) {
  o.demanded().number("cmdno", a.number, "", "The line's number in the history.");
}

int run(Context& cx, const Args& a) {
  if (!a.number) {
    if (cx.input == Input::Pipe) return status::ok;  // as in zkCli: does nothing
    throw SyntaxError("too few arguments: cmdno expected");
  }
  if (cx.background)
    throw ValueError(
        fmt::format("a background job has no history; `!{} &` runs line {} in the background",
                    *a.number, *a.number));
  auto& history = cx.history;
  // A repeated line may contain another redo, after `repeat`, which could refer to itself.
  if (history.redoing()) throw ValueError("No redoing redos");
  // The last line is the present one; the process's arguments are not in the history.
  if (*a.number < 0 || static_cast<std::size_t>(*a.number) + 1 >= history.next())
    throw ValueError("Command index out of range");
  const auto number = static_cast<std::size_t>(*a.number);
  if (number < history.first())
    throw ValueError(fmt::format("line {} is no longer in the history; the oldest is {}", number,
                                 history.first()));
  const auto line = history.at(number);
  if (line.masked)
    throw ValueError(fmt::format(
        "line {} is not in the history (it had a secret, or began with a blank); type it again",
        number));
  const auto words = split_words(line.text);
  if (!words.empty() && words.front().text == "redo") throw ValueError("No redoing redos");
  history.replace_last(line);  // so that a redone line can be redone
  const auto redo = history.begin_redo();
  return cx.excused(cx.run_line(line.text));
}

}  // namespace

extern const Command redo_command = make_command<Args>(
    {.name = "redo",
     .group = "Shell",
     .summary = "Run a line of the history again",
     .keywords = {"again", "previous"},
     .details = "The history then has the line itself, not `redo`. The line runs as it was "
                "typed, in the background if it ended with `&`.",
     .examples = {{"redo 0", "Run line 0, the first of this run, again."}},
     .zkcli_syntax = "cmdno",
     .needs = Needs::SessionAfter,
     .optionless = true},
    declare, run);
}  // namespace zksh::command_redo
