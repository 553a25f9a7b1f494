// history: show the last lines with their numbers.
#include "command/command.h"
#include "command/line_history.h"
#include "config/settings.h"
#include "node/node_json.h"

#include <fmt/core.h>

namespace zksh::command_history {
namespace {

struct Args {
  std::optional<std::string> count;
  bool others = false;
};

void declare(Options& o, Args& a) {
  o.text("count|text", a.count,
         "Number of lines, including this one; 11 by default. Any other text: the lines of earlier "
         "days, too, that contain it, at the prompt.");
  o.flag("-n,--new", a.others,
         "Read the lines that other shells have saved since this shell started, or since the last "
         "-n. They are shown, and Up, Ctrl-R and hints find them.");
}

/// zkCli's history ignores its argument; elsewhere it is the number of lines.
std::size_t wanted(const std::optional<std::string>& count, Input input) {
  constexpr std::size_t as_in_zkcli = 11;
  if (!count || input == Input::Pipe) return as_in_zkcli;
  return static_cast<std::size_t>(parse_number(*count, "count", 1, INT32_MAX));
}

/// The number by which `redo` finds a line; nullopt: it is from another run, or had a secret.
std::optional<std::size_t> number_of(const LineHistory& history, const std::string& line) {
  for (auto number = history.next(); number > history.first(); --number)
    if (const auto& one = history.at(number - 1); one.text == line && !one.masked)
      return number - 1;
  return std::nullopt;
}

int show(Context& cx, const std::optional<std::vector<std::string>>& lines, const char* what,
         bool numbered) {
  if (!lines) throw Error(fmt::format("{} only works at the prompt", what), status::usage);
  for (const auto& line : *lines) {
    const auto number = numbered ? number_of(cx.history, line) : std::nullopt;
    auto json = Json::object();
    if (number) json.set("number", *number);
    print_result(cx, json.set("text", line),
                 (number ? fmt::format("{} - ", *number) : "") + cx.out.shown(line));
  }
  return status::ok;
}

int run(Context& cx, const Args& a) {
  if (a.others) {
    if (a.count) throw UsageError("-n does not take a count");
    return show(cx, cx.history.read_others(), "-n", false);
  }
  if (a.count && cx.input != Input::Pipe && !begins_as_number(*a.count))
    return show(cx, cx.history.find(*a.count), "a search of the history", true);
  const auto count = wanted(a.count, cx.input);
  const auto& history = cx.history;
  if (cx.services.settings.drop_in && history.next() == 0) cx.out.line("0 - null");
  auto number = history.next() - std::min(count, history.next() - history.first());
  for (; number < history.next(); ++number)
    print_result(cx, Json::object().set("number", number).set("text", history.at(number).text),
                 fmt::format("{} - {}", number, cx.out.shown(history.at(number).text)));
  return status::ok;
}

}  // namespace

extern const Command history_command = make_command<Args>(
    {.name = "history",
     .group = "Shell",
     .summary = "Show the command history",
     .keywords = {"previous", "lines", "recall", "search"},
     .details = "Lines are numbered from 0 in this run; `redo N` runs a line again. Secrets are "
                "masked. `history setAcl` finds the lines that contain setAcl; those of this run "
                "have their numbers.",
     .examples = {{"history", "Show the latest lines."}},
     .json = "[number] text",
     .zkcli_syntax = "",
     .needs = Needs::SessionAfter,
     .optionless = true,
     .pages = true,
     .allowed_in_transaction = true},
    declare, run);
}  // namespace zksh::command_history
