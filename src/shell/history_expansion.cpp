// History expansion: replaces a typed line that begins with ! by an earlier one.
#include "shell/history_expansion.h"

#include "base/error.h"
#include "base/number.h"
#include "base/words.h"

#include <fmt/core.h>

#include <string_view>

namespace zksh {
namespace {

/// `event` is what follows the exclamation mark.
std::optional<std::size_t> find_event(std::string_view event, const LineHistory& history) {
  const auto first = history.first();
  const auto next = history.next();
  const auto kept = [&](std::size_t number) { return number >= first && number < next; };
  if (event == "!") event = "-1";
  if (const auto number = number_in<std::size_t>(event))
    return kept(*number) ? number : std::nullopt;
  if (event.starts_with('-'))
    if (const auto back = number_in<std::size_t>(event.substr(1))) {
      const bool there = *back > 0 && *back <= next && kept(next - *back);
      return there ? std::optional(next - *back) : std::nullopt;
    }
  for (auto number = next; number > first; --number)
    if (history.at(number - 1).text.starts_with(event)) return number - 1;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> expand_history(const std::string& line, const LineHistory& history) {
  const auto begin = line.find_first_not_of(white_space);
  if (begin == std::string::npos || line[begin] != '!') return std::nullopt;
  const auto end = std::min(line.find_first_of(white_space, begin), line.size());
  const auto event = line.substr(begin + 1, end - begin - 1);
  if (event.empty()) return std::nullopt;
  const auto number = find_event(event, history);
  if (!number) throw ValueError(fmt::format("!{}: no such line; `history` shows them", event));
  const auto& found = history.at(*number);
  if (found.masked)
    throw ValueError(fmt::format(
        "line {} is not in the history (it had a secret, or began with a blank); type it again",
        *number));
  return line.substr(0, begin) + found.text + line.substr(end);
}

}  // namespace zksh
