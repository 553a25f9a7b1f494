// Java: dates and hash orders as the Java of zkCli.sh prints them.
#include "base/java.h"

#include "base/mapped.h"
#include "base/number.h"
#include "base/text.h"

#include <fmt/core.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace zksh {
namespace {

/// A line for each pair of names.
constexpr std::string_view named_zones =
#include "base/java_zones.inc"
    ;

/// A period in which Java and the C library disagree which time is daylight saving: Java's tz data
/// have no negative daylight saving.
struct Inversion {
  std::string_view id;
  std::int64_t begin;  ///< seconds since 1970
  std::int64_t end;
};

constexpr std::int64_t forever = INT64_MAX;
constexpr auto inversions = std::to_array<Inversion>({
    {"Africa/Casablanca", 1540692000, forever},
    {"Africa/El_Aaiun", 1540692000, forever},
    {"Africa/Windhoek", 637970400, forever},
    {"Eire", -37242000, forever},
    {"Europe/Dublin", -37242000, forever},
});

struct Zone {
  std::string standard;  ///< empty: the C library has the names
  std::string daylight;
  std::optional<std::int64_t> offset;  ///< seconds east of UTC; nullopt: ask the C library
  const Inversion* inversion = nullptr;
};

// --- finding the zone

std::string id_of_system() {
  constexpr std::string_view directory = "zoneinfo/";
  std::error_code none;
  const auto link = std::filesystem::read_symlink("/etc/localtime", none).string();
  const auto at = link.find(directory);
  if (at != std::string::npos) return link.substr(at + directory.size());
  std::string id;
  std::ifstream("/etc/timezone") >> id;
  return id;
}

Zone fixed_zone(const std::string& name, std::int64_t offset) {
  return {.standard = name, .daylight = name, .offset = offset};
}

std::optional<Zone> named_zone(std::string_view id) {
  for (const auto line : lines_of(named_zones)) {
    if (line.find(id) == std::string_view::npos) continue;
    const auto words = split(line, ' ');
    if (words.size() < 3 || std::find(words.begin() + 2, words.end(), id) == words.end()) continue;
    Zone zone{.standard = std::string(words[0]), .daylight = std::string(words[1]), .offset = {}};
    const auto* const inversion = std::ranges::find(inversions, id, &Inversion::id);
    if (inversion != inversions.end()) zone.inversion = inversion;
    return zone;
  }
  return {};
}

/// Java's custom ids "GMT+3", "GMT-3:30", "GMT+0330": + is east, the opposite of POSIX.
std::optional<Zone> custom_zone(std::string_view id) {
  if (!id.starts_with("GMT+") && !id.starts_with("GMT-")) return {};
  const auto digits = id.substr(4);
  const auto colon = digits.find(':');
  auto hours = digits.substr(0, colon);
  auto minutes = colon != std::string_view::npos ? digits.substr(colon + 1) : "00";
  if (colon == std::string_view::npos && hours.size() > 2) {
    minutes = hours.substr(hours.size() - 2);
    hours.remove_suffix(2);
  }
  const auto hour = number_in<unsigned>(hours);
  const auto minute = number_in<unsigned>(minutes);
  if (hours.size() > 2 || minutes.size() != 2 || !hour || !minute || *hour > 23 || *minute > 59)
    return {};
  const auto offset = (std::int64_t{*hour} * 60 + *minute) * 60;
  return fixed_zone(fmt::format("GMT{}{:02}:{:02}", id[3], *hour, *minute),
                    id[3] == '-' ? -offset : offset);
}

/// Java's treatment of an unknown id such as "FOO3" or "CET-1CEST": standard time as the C library
/// understands the id, all year.
Zone zone_of_unknown_id() {
  const std::int64_t offset = -timezone;  // whole minutes, as in Java
  if (std::abs(offset) < 60 || std::abs(offset) >= 86400) return fixed_zone("GMT", 0);
  const auto minutes = std::abs(offset) / 60;
  return fixed_zone(
      fmt::format("GMT{}{:02}:{:02}", offset < 0 ? '-' : '+', minutes / 60, minutes % 60),
      offset / 60 * 60);
}

Zone find_zone() {
  tzset();
  const char* variable = std::getenv("TZ");
  const bool is_set = variable != nullptr;
  // The C library reads an empty $TZ as UTC, Java as the system's zone. The name must match the
  // time.
  if (is_set && *variable == '\0') return fixed_zone("UTC", 0);
  const auto full_id = is_set ? std::string(variable) : id_of_system();
  std::string_view id = full_id;
  if (id.substr(0, 1) == ":") id.remove_prefix(1);
  // Newer Debian releases lack the posix/ zones; the C library then uses UTC.
  if (id.starts_with("posix/") &&
      access(fmt::format("/usr/share/zoneinfo/{}", id).c_str(), F_OK) == 0)
    id.remove_prefix(6);

  if (auto zone = named_zone(id)) return *zone;
  if (auto zone = custom_zone(id)) return *zone;
  if (is_set) return zone_of_unknown_id();
  return {};
}

// --- the calendar

struct Day {
  std::int64_t year;
  unsigned month;
  unsigned day;
};

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

constexpr std::int64_t first_gregorian_day = -141427;  // 15 October 1582

/// The date of a day counted from 1970-01-01, as Java has it: Julian before 15 October 1582, BCE
/// years before year 1.
Day day_of(std::int64_t days) {
  // The Gregorian calendar repeats every 400 years, the Julian every four; around 1970 they differ
  // by 13 days. std::chrono knows no years beyond 32767.
  const bool julian = days < first_gregorian_day;
  const std::int64_t cycle = julian ? 1461 : 146097;
  const auto cycles = floor_div(days, cycle);
  const std::chrono::days near_1970(days - cycles * cycle - (julian ? 13 : 0));
  const std::chrono::year_month_day date{std::chrono::sys_days(near_1970)};
  const auto year = static_cast<int>(date.year()) + cycles * (julian ? 4 : 400);
  return {year > 0 ? year : 1 - year, static_cast<unsigned>(date.month()),
          static_cast<unsigned>(date.day())};
}

std::string written(std::int64_t seconds, std::int64_t offset, std::string_view zone) {
  static constexpr std::array weekdays = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};
  static constexpr std::array months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::int64_t local = seconds + offset;
  const std::int64_t days = floor_div(local, 86400);
  const std::int64_t second = local - days * 86400;
  const auto date = day_of(days);
  const auto weekday = static_cast<std::size_t>(days - floor_div(days, 7) * 7);
  return fmt::format("{} {} {:02} {:02}:{:02}:{:02} {} {}", weekdays[weekday],
                     months[date.month - 1], date.day, second / 3600, second / 60 % 60, second % 60,
                     zone, date.year);
}

std::string date_in(const Zone& zone, std::int64_t milliseconds) {
  const std::int64_t seconds = floor_div(milliseconds, 1000);
  if (zone.offset) return written(seconds, *zone.offset, zone.standard);

  const std::time_t time = seconds;
  std::tm local{};
  if (localtime_r(&time, &local) == nullptr) return written(seconds, 0, "GMT");
  bool daylight = local.tm_isdst > 0;
  if (zone.standard.empty()) return written(seconds, local.tm_gmtoff, local.tm_zone);
  if (const auto* i = zone.inversion; i != nullptr && seconds >= i->begin && seconds < i->end) {
    daylight = !daylight;
  }
  return written(seconds, local.tm_gmtoff, daylight ? zone.daylight : zone.standard);
}

constexpr std::string_view property_blanks = " \t\f";

/// Reads the next logical line, with its continuations; false at the end.
bool next_line(std::string_view& text, std::string& line) {
  line.clear();
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of("\r\n"), text.size());
    const auto part = without_leading(text.substr(0, end), property_blanks);
    text.remove_prefix(std::min(text.size(), end + 1));
    if (line.empty() && (part.empty() || part.front() == '#' || part.front() == '!')) continue;
    const auto backslashes = part.size() - (part.find_last_not_of('\\') + 1);  // npos + 1 is 0
    const bool continues = backslashes % 2 == 1;
    line += continues ? part.substr(0, part.size() - 1) : part;
    if (!continues) return true;
  }
  return !line.empty();
}

std::string unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      result += text[i];
      continue;
    }
    const char letter = text[++i];
    const auto digits = text.substr(i + 1, 4);
    const auto code = number_in<unsigned>(digits, 16);
    if (letter == 'u' && digits.size() == 4 && code) {
      // Java would combine a surrogate with another one.
      const bool surrogate = *code >= 0xD800 && *code <= 0xDFFF;
      append_utf8(result, surrogate ? 0xFFFD : *code);
      i += 4;
    } else {
      constexpr std::string_view letters = "tnrf";
      constexpr std::string_view meanings = "\t\n\r\f";
      const auto known = letters.find(letter);
      result += known == std::string_view::npos ? letter : meanings[known];
    }
  }
  return result;
}

/// The end of the key: the first unescaped blank, = or :.
std::size_t key_end(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\')
      ++i;
    else if (std::string_view("=: \t\f").find(line[i]) != std::string_view::npos)
      return i;
  }
  return line.size();
}

}  // namespace

std::string java_date(std::int64_t milliseconds) {
  static const Zone zone = find_zone();
  return date_in(zone, milliseconds);
}

std::string java_date_after_zone_change(std::int64_t milliseconds) {
  return date_in(find_zone(), milliseconds);
}

std::uint32_t java_hash(std::string_view text) {
  std::uint32_t hash = 0;
  const auto add = [&](std::uint32_t unit) { hash = hash * 31 + unit; };
  for (std::size_t at = 0; at < text.size();) {
    const auto step = decode_utf8(text, at);
    at += step.length;
    if (step.code_point < 0x10000) {
      add(step.code_point);
      continue;
    }
    const std::uint32_t rest = step.code_point - 0x10000;
    add(0xD800 + (rest >> 10U));
    add(0xDC00 + (rest & 0x3FFU));
  }
  return hash;
}

std::size_t java_bucket(std::uint32_t hash, std::size_t entries) {
  std::size_t buckets = 16;
  while (entries >= buckets / 4 * 3) buckets *= 2;
  return (hash ^ hash >> 16U) & (buckets - 1);
}

void sort_as_cloned_java_set(std::vector<std::string>& texts) {
  // HashMap.putVal doubles a table with more entries than three quarters of its buckets.
  std::size_t own_buckets = 16;
  while (texts.size() > own_buckets / 4 * 3) own_buckets *= 2;
  // HashMap.putMapEntries gives the clone the least power of two not below size / 0.75 + 1.
  std::size_t buckets = 1;
  while (buckets < texts.size() * 4 / 3 + 1) buckets *= 2;
  // By the clone's bucket, and within that by the set's own.
  using Placed = std::pair<std::size_t, std::string>;
  auto placed = mapped(texts, [&](const std::string& text) {
    const auto hash = java_hash(text);
    const auto spread = hash ^ hash >> 16U;
    return Placed((spread & (buckets - 1)) * own_buckets + (spread & (own_buckets - 1)), text);
  });
  std::ranges::stable_sort(placed, {}, &Placed::first);
  texts = mapped(placed, &Placed::second);
}

std::vector<std::pair<std::string, std::string>> java_properties(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> properties;
  for (std::string line; next_line(text, line);) {
    const auto end = key_end(line);
    auto value = without_leading(std::string_view(line).substr(end), property_blanks);
    if (value.starts_with('=') || value.starts_with(':')) value.remove_prefix(1);
    properties.emplace_back(unescaped(std::string_view(line).substr(0, end)),
                            unescaped(without_leading(value, property_blanks)));
  }
  return properties;
}

}  // namespace zksh
