// ContentionTable: what a contention came to, for people to read, beside another one.
#include "lock/contention_table.h"

#include "base/json.h"
#include "base/time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

namespace zksh {
namespace {

/// A figure of which there is one.
struct Row {
  std::string name;
  std::string key;  ///< for programs
  std::function<std::string(const ContentionSummary&)> figure;
};

/// Times, of which three figures are told.
struct SpreadRow {
  std::string name;
  std::string key;
  Spread ContentionStatistics::*spread;
};

const std::vector<SpreadRow>& spread_rows() {
  static const std::vector<SpreadRow> rows{
      {"handoff", "handoff", &ContentionStatistics::handoff},
      {"acquire, with the wait", "acquire", &ContentionStatistics::acquire},
      {"release", "release", &ContentionStatistics::release}};
  return rows;
}

std::int64_t fired(const ContentionSummary& summary) {
  return summary.counted ? summary.counted->fired
                         : static_cast<std::int64_t>(summary.statistics.events);
}

std::string per_acquisition(const ContentionSummary& summary, std::int64_t count) {
  const auto acquisitions = static_cast<double>(summary.statistics.acquisitions);
  return acquisitions == 0 ? "-" : fmt::format("{:.2f}", static_cast<double>(count) / acquisitions);
}

const std::vector<Row>& count_rows() {
  using Summary = ContentionSummary;
  static const std::vector<Row> rows{
      {"acquisitions", "acquisitions",
       [](const Summary& of) { return std::to_string(of.statistics.acquisitions); }},
      {"  at the same time", "together",
       [](const Summary& of) { return std::to_string(of.statistics.together); }},
      {"requests per acquisition", "requests_per_acquisition",
       [](const Summary& of) {
         return per_acquisition(of, static_cast<std::int64_t>(of.requests));
       }},
      {"watch events fired", "events", [](const Summary& of) { return std::to_string(fired(of)); }},
      {"  per release", "events_per_release",
       [](const Summary& of) { return per_acquisition(of, fired(of)); }},
      {"  by one release", "events_by_one_release",
       [](const Summary& of) {
         return of.counted && of.counted->most ? std::to_string(*of.counted->most)
                                               : std::to_string(of.statistics.events_at_once);
       }},
      {"znodes left", "znodes_left",
       [](const Summary& of) { return std::to_string(of.znodes_left); }},
      {"watches left", "watches_left",
       [](const Summary& of) { return of.counted ? std::to_string(of.counted->left) : "-"; }}};
  return rows;
}

std::string microseconds(std::chrono::nanoseconds time) {
  return fmt::format("{:.1f}", static_cast<double>(time.count()) / 1e3);
}

/// The lines of a table: a name, and three figures for each contention.
class Lines {
 public:
  explicit Lines(const std::vector<ContentionSummary>& summaries) : summaries_(summaries) {}

  /// `figures(summary)`: three of them.
  template <class Figures>
  void add(const std::string& name, Figures&& figures) {
    auto line = fmt::format("{:<24}", name);
    for (const auto& summary : summaries_)
      for (const std::string& figure : figures(summary)) line += fmt::format("{:>9}", figure);
    line.erase(line.find_last_not_of(' ') + 1);
    lines_.push_back(std::move(line));
  }
  std::vector<std::string> take() { return std::move(lines_); }

 private:
  const std::vector<ContentionSummary>& summaries_;
  std::vector<std::string> lines_;
};

using Three = std::array<std::string, 3>;

}  // namespace

std::vector<std::string> contention_table(const std::vector<ContentionSummary>& summaries) {
  Lines lines(summaries);
  lines.add("", [](const ContentionSummary& of) { return Three{of.title, "", ""}; });
  const bool together = std::ranges::any_of(
      summaries, [](const ContentionSummary& of) { return of.statistics.together > 1; });
  for (const auto& row : count_rows())
    if (together || row.key != "together")
      lines.add(row.name, [&](const ContentionSummary& of) {
        return Three{row.figure(of), "", ""};
      });
  lines.add("took", [](const ContentionSummary& of) {
    return Three{short_time(of.statistics.took), "", ""};
  });
  lines.add("", [](const ContentionSummary&) { return Three{"median", "99 %", "longest"}; });
  for (const auto& row : spread_rows())
    lines.add(row.name, [&](const ContentionSummary& of) {
      const auto& spread = of.statistics.*row.spread;
      if (spread.count == 0) return Three{"-", "-", "-"};
      return Three{short_time(spread.median), short_time(spread.p99), short_time(spread.longest)};
    });
  return lines.take();
}

std::vector<std::string> contention_figures(const std::vector<ContentionSummary>& summaries) {
  std::vector<std::string> lines;
  const auto add = [&](std::string line, const auto& figure) {
    for (const auto& summary : summaries) line += '\t' + figure(summary);
    lines.push_back(std::move(line));
  };
  add("recipe", [](const ContentionSummary& of) { return of.title; });
  for (const auto& row : count_rows()) add(row.key, row.figure);
  add("took_us", [](const ContentionSummary& of) { return microseconds(of.statistics.took); });
  for (const auto& row : spread_rows())
    for (const auto& [suffix, part] :
         {std::pair{"_median_us", &Spread::median}, std::pair{"_p99_us", &Spread::p99},
          std::pair{"_longest_us", &Spread::longest}})
      add(row.key + suffix, [&, part = part](const ContentionSummary& of) {
        const auto& spread = of.statistics.*row.spread;
        return spread.count == 0 ? "-" : microseconds(spread.*part);
      });
  return lines;
}

std::string contention_json(const ContentionSummary& summary) {
  std::string text;
  for (const auto& line : contention_figures({summary})) {
    const auto tab = line.find('\t');
    const auto key = line.substr(0, tab);
    const auto figure = line.substr(tab + 1);
    const auto value = key == "recipe" ? Json(figure).text() : figure == "-" ? "null" : figure;
    text += fmt::format("{}\"{}\":{}", text.empty() ? "" : ",", key, value);
  }
  return '{' + text + '}';
}

std::string compared(const ContentionSummary& first, const ContentionSummary& second) {
  const auto& before = first.statistics.handoff;
  const auto& after = second.statistics.handoff;
  if (fired(first) <= 0 || before.median.count() <= 0 || after.count == 0) return {};
  const auto ratio = [](auto to, auto from) {
    return static_cast<double>(to) / static_cast<double>(from);
  };
  return fmt::format("{}: {:.1f} times the events of {}, and handoffs take {:.1f} times as long",
                     second.title, ratio(fired(second), fired(first)), first.title,
                     ratio(after.median.count(), before.median.count()));
}

}  // namespace zksh
