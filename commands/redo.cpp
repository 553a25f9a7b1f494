// redo: run a line of the history again.
#include "base/words.h"
#include "command/command.h"
#include "command/line_history.h"

namespace zksh {
namespace {

struct Args {
  std::optional<std::int32_t> number;
};

void declare(Options& o, Args& a) {
  o.number("cmdno", a.number, "", "The line's number in the history.");
}

int run(Context& cx, const Args& a) {
  if (!a.number) return status::ok;  // as zkCli: nothing to do, nothing to say
  auto& history = cx.history;
  const auto own = history.next() - 1;
  if (*a.number < 0 || static_cast<std::size_t>(*a.number) >= own)
    throw ValueError("Command index out of range");
  const auto number = static_cast<std::size_t>(*a.number);
  if (number < history.first())
    throw ValueError(
        fmt::format("line {} is no longer kept; the oldest is {}", number, history.first()));
  const auto line = history.at(number);
  if (line.masked)
    throw ValueError(fmt::format(
        "line {} was not kept, for its secret or the blank before it: type it again", number));
  const auto words = split_words(line.text);
  if (!words.empty() && words.front().text == "redo") throw ValueError("No redoing redos");
  history.replace_last(line);  // so that a line that was redone can be redone
  return cx.run_line(line.text);
}

}  // namespace

extern const Command redo_command = make_command<Args>(
    {.name = "redo",
     .group = "Shell",
     .summary = "Run a line of the history again",
     .details = "The line's text takes the place of the redo line in the history.",
     .examples = {{"redo 0", "Run the first line of this run again."}},
     .zkcli_syntax = "cmdno",
     .needs = Needs::SessionAfter,
     .optionless = true},
    declare, run);
}  // namespace zksh
