// Moment: a place in the history, as a time or a zxid.
#include "txnlog/moment.h"

#include "base/error.h"
#include "base/number.h"
#include "base/time.h"
#include "txnlog/transaction.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <set>
#include <vector>

namespace zksh {
namespace {

constexpr int first_year = 1900;
constexpr std::int64_t a_second = 1000;

/// Removes a number of `digits` digits, and before it one of `marks`, if there are any; nullopt if
/// they are not there.
std::optional<int> take_number(std::string_view& text, std::size_t digits, std::string_view marks) {
  if (!marks.empty()) {
    if (text.empty() || marks.find(text.front()) == std::string_view::npos) return std::nullopt;
    text.remove_prefix(1);
  }
  const auto number = number_in<int>(text.substr(0, digits));
  if (!number || *number < 0 || text.size() < digits) return std::nullopt;
  text.remove_prefix(digits);
  return number;
}

/// When a wall clock here shows a time, in seconds since 1970: once, or twice or never where
/// clocks are put back or forward. `shown` is what it shows, as if it were UTC. If never, both
/// readings: by the clock before and by the clock after.
struct LocalTimes {
  std::vector<std::time_t> times{};
  bool exists = true;
};

LocalTimes local_times(std::time_t shown) {
  constexpr std::time_t a_day = 86400;
  std::set<std::time_t> readings;
  std::vector<std::time_t> times;
  for (const auto near : {shown - a_day, shown + a_day}) {
    std::tm local{};
    if (!localtime_r(&near, &local)) continue;
    readings.insert(shown - local.tm_gmtoff);
  }
  for (const auto time : readings) {
    std::tm local{};
    if (localtime_r(&time, &local) && timegm(&local) == shown) times.push_back(time);
  }
  if (!times.empty()) return {.times = times};
  return {.times = {readings.begin(), readings.end()}, .exists = false};
}

/// Throws ValueError if the clocks here show it twice, or never.
std::time_t local_time(std::time_t shown, std::string_view text, std::string_view what) {
  const auto [times, exists] = local_times(shown);
  if (exists && times.size() == 1) return times.front();
  const auto utc = [](std::time_t time) {
    std::tm parts{};
    gmtime_r(&time, &parts);
    std::array<char, 32> buffer{};
    return std::string(buffer.data(),
                       std::strftime(buffer.data(), buffer.size(), "%Y-%m-%d %H:%M:%SZ", &parts));
  };
  const auto here = [](std::time_t time) {
    return local_time_text(time * a_second).substr(0, std::string_view("1970-01-01 00:00").size());
  };
  std::vector<std::string> choices;
  choices.reserve(times.size());
  for (const auto time : times)
    choices.push_back(exists ? utc(time) : fmt::format("{} ({} here)", utc(time), here(time)));
  throw ValueError(fmt::format("{}: {} {}: write {}", what, text,
                               exists ? "comes twice here, as the clocks are put back"
                                      : "never comes here, as the clocks are put forward",
                               fmt::join(choices, " or ")));
}

std::optional<std::int64_t> calendar_time(std::string_view whole, std::string_view what) {
  auto text = whole;
  const bool utc = text.ends_with('Z');
  if (utc) text.remove_suffix(1);
  const auto year = take_number(text, 4, "");
  const auto month = take_number(text, 2, "-");
  const auto day = take_number(text, 2, "-");
  if (!year || !month || !day || *month < 1 || *month > 12 || *day < 1 || *day > 31)
    return std::nullopt;
  std::tm time{};
  time.tm_year = *year - first_year;
  time.tm_mon = *month - 1;
  time.tm_mday = *day;
  int milliseconds = 0;
  if (!text.empty()) {
    const auto hour = take_number(text, 2, " T");
    const auto minute = take_number(text, 2, ":");
    const auto second = text.empty() ? std::optional(0) : take_number(text, 2, ":");
    const auto rest = text.empty() ? std::optional(0) : take_number(text, 3, ".");
    if (!hour || !minute || !second || !rest || !text.empty() || *hour > 23 || *minute > 59 ||
        *second > 60)
      return std::nullopt;
    time.tm_hour = *hour;
    time.tm_min = *minute;
    time.tm_sec = *second;
    milliseconds = *rest;
  }
  const auto shown = timegm(&time);
  if (time.tm_mday != *day) return std::nullopt;  // February 30
  const auto seconds = utc ? shown : local_time(shown, whole, what);
  return static_cast<std::int64_t>(seconds) * a_second + milliseconds;
}

/// "yesterday 03:00" as "2026-11-25 03:00"; any other text as it is.
std::string with_date(std::string_view text) {
  for (const auto& [word, days] :
       {std::pair(std::string_view("today"), 0), std::pair(std::string_view("yesterday"), 1)}) {
    if (!text.starts_with(word)) continue;
    const auto rest = text.substr(word.size());
    if (!rest.empty() && rest.front() != ' ') break;
    auto now = static_cast<std::time_t>(wall_clock_now() / a_second);
    std::tm day{};
    if (!localtime_r(&now, &day)) break;
    day.tm_mday -= days;
    day.tm_hour = 12;  // so that no change of the clocks moves the date
    day.tm_isdst = -1;
    mktime(&day);
    return fmt::format("{:04}-{:02}-{:02}{}", day.tm_year + first_year, day.tm_mon + 1, day.tm_mday,
                       rest);
  }
  return std::string(text);
}

/// Refuses what could be meant in another way.
void require_clear(std::string_view text, std::string_view what, std::int64_t number) {
  constexpr std::size_t seconds_digits = 10;
  constexpr std::size_t clock_digits = 5;
  if (text.find(':') == std::string_view::npos) {
    if (text.size() != seconds_digits) return;
    throw ValueError(fmt::format(
        "{}: {} milliseconds since 1970 is {}; if these are seconds, append 000", what, text,
        local_time_text(number).substr(0, std::string_view("1970-01-01").size())));
  }
  if (text.size() == clock_digits && text[2] == ':' && epoch_of(number) < 24 &&
      counter_of(number) < 60)
    throw ValueError(
        fmt::format("{0}: {1} may be a time or the counter of an epoch: write "
                    "\"YYYY-MM-DD {1}\" for the time, {2} for the zxid",
                    what, text, zxid_text(number)));
}

/// EPOCH:COUNTER, or hexadecimal with 0x.
std::optional<std::int64_t> parsed_zxid(std::string_view text) {
  constexpr int hexadecimal = 16;
  if (text.starts_with("0x")) {
    const auto zxid = number_in<std::uint64_t>(text.substr(2), hexadecimal);
    return zxid ? std::optional(static_cast<std::int64_t>(*zxid)) : std::nullopt;
  }
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto epoch = number_in<std::uint32_t>(text.substr(0, colon));
  const auto counter = number_in<std::uint32_t>(text.substr(colon + 1));
  if (!epoch || !counter) return std::nullopt;
  return static_cast<std::int64_t>(std::uint64_t{*epoch} << 32U | *counter);
}

}  // namespace

Moment parse_moment(std::string_view text, std::string_view what) {
  if (text == "now") return {.time = wall_clock_now()};
  if (text.starts_with('-') && text.size() > 1)
    return {.time = wall_clock_now() - parse_duration(text.substr(1), what).count()};
  if (const auto zxid = parsed_zxid(text)) {
    if (!text.starts_with("0x")) require_clear(text, what, *zxid);
    return {.zxid = zxid};
  }
  constexpr std::string_view before = "before:";
  if (text.starts_with(before)) {
    const auto zxid = parsed_zxid(text.substr(before.size()));
    if (!zxid || *zxid == 0)
      throw ValueError(fmt::format("{}: before: wants a zxid (before:0x300000005)", what));
    return {.zxid = *zxid - 1};
  }
  if (const auto time = calendar_time(with_date(text), what)) return {.time = time};
  const auto time = number_in<std::int64_t>(text);
  if (time && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; })) {
    require_clear(text, what, *time);
    return {.time = time};
  }
  throw ValueError(fmt::format(
      "{}: \"{}\" is neither a time (\"2026-11-25 03:10\", \"yesterday 03:10\", -2h, now, "
      "milliseconds since 1970) nor a zxid (0x300000005, 3:5, before:0x300000005)",
      what, text));
}

std::string local_time_text(std::int64_t milliseconds) {
  // Millions of lines are printed, many of the same second.
  struct Minute {
    std::int64_t begins = INT64_MIN;
    std::array<char, 32> text{};
    std::size_t length = 0;
  };
  thread_local Minute last;
  constexpr std::int64_t a_minute = 60 * a_second;
  const auto in_minute = (milliseconds % a_minute + a_minute) % a_minute;
  if (last.begins != milliseconds - in_minute) {
    last.begins = milliseconds - in_minute;
    const auto seconds = static_cast<std::time_t>(last.begins / a_second);
    std::tm local{};
    if (!localtime_r(&seconds, &local)) return std::to_string(milliseconds);
    last.length =
        std::strftime(last.text.data(), last.text.size(), "%Y-%m-%d %H:%M:00.000", &local);
  }
  std::string text(last.text.data(), last.length);
  auto digit = text.rbegin();
  for (auto left = in_minute; digit != text.rend() && left > 0; left /= 10, ++digit) {
    if (*digit == '.') ++digit;
    *digit = static_cast<char>('0' + left % 10);
  }
  return text;
}

}  // namespace zksh
