// Moment: a place in the history, as a time or a zxid.
#include "txnlog/moment.h"

#include "base/error.h"
#include "base/number.h"
#include "base/regex.h"
#include "base/time.h"
#include "txnlog/transaction.h"

#include <fmt/ranges.h>

#include <array>
#include <ctime>
#include <set>
#include <vector>

namespace zksh {
namespace {

constexpr int first_year = 1900;
constexpr std::int64_t a_second = 1000;

/// When a wall clock here shows a time, in seconds since 1970. `shown` is what it shows, as if it
/// were UTC. Throws ValueError if it shows it twice or never, as clocks are put back or forward.
std::time_t local_time(std::time_t shown, std::string_view text, std::string_view what) {
  constexpr std::time_t a_day = 86400;
  std::set<std::time_t> readings;  // by the clock before and by the clock after
  std::vector<std::time_t> times;
  for (const auto near : {shown - a_day, shown + a_day}) {
    std::tm local{};
    if (localtime_r(&near, &local)) readings.insert(shown - local.tm_gmtoff);
  }
  for (const auto time : readings) {
    std::tm local{};
    if (localtime_r(&time, &local) && timegm(&local) == shown) times.push_back(time);
  }
  if (times.size() == 1) return times.front();
  const bool exists = !times.empty();
  if (!exists) times.assign(readings.begin(), readings.end());
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
  const Regex form(R"(\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{3})?)?)?Z?)", what);
  if (!form.matches_whole(whole)) return std::nullopt;
  const auto text = whole.substr(0, whole.find('Z'));
  const auto number = [&](std::size_t at, std::size_t digits) {
    return at < text.size() ? number_in<int>(text.substr(at, digits)).value_or(0) : 0;
  };
  const int day = number(8, 2);
  std::tm time{};
  time.tm_year = number(0, 4) - first_year;
  time.tm_mon = number(5, 2) - 1;
  time.tm_mday = day;
  time.tm_hour = number(11, 2);
  time.tm_min = number(14, 2);
  time.tm_sec = number(17, 2);
  if (time.tm_mon < 0 || time.tm_mon > 11 || day < 1 || day > 31 || time.tm_hour > 23 ||
      time.tm_min > 59 || time.tm_sec > 60)
    return std::nullopt;
  const auto shown = timegm(&time);
  if (time.tm_mday != day) return std::nullopt;  // February 30
  const auto seconds = text.size() < whole.size() ? shown : local_time(shown, whole, what);
  return static_cast<std::int64_t>(seconds) * a_second + number(20, 3);
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
  if (text.starts_with("0x")) return id_in(text.substr(2));
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
  if (const auto time = number_in<std::int64_t>(text)) {  // without a sign, see above
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
