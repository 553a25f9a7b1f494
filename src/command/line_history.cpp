// LineHistory: the numbered lines of this run, for `history`, `redo` and `!`.
#include "command/line_history.h"

#include "base/error.h"
#include "base/number.h"
#include "base/secrets.h"
#include "base/words.h"

#include <fmt/core.h>

namespace zksh {
namespace {

constexpr std::size_t most_lines = 10000;
constexpr std::size_t most_bytes = 4U << 20U;

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

void LineHistory::add(const std::string& line) {
  const auto masked = mask_secrets(line);
  lines_.push_back({masked.value_or(line), masked.has_value()});
  bytes_ += lines_.back().text.size();
  trim();
}

void LineHistory::replace_last(const Line& line) {
  bytes_ -= lines_.back().text.size();
  lines_.back() = line;
  bytes_ += lines_.back().text.size();
  trim();
}

void LineHistory::trim() {
  while (lines_.size() > 1 && (lines_.size() > most_lines || bytes_ > most_bytes)) {
    bytes_ -= lines_.front().text.size();
    lines_.pop_front();
    ++first_;
  }
}

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
