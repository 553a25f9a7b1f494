// Java: dates and hash orders as the Java of zkCli.sh prints them.
#include "base/java.h"

#include "base/text.h"

#include <fmt/core.h>

#include <array>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <optional>
#include <unistd.h>
#include <utility>

namespace zksh {
namespace {

/// A zone that Java 17 knows, with its short names, which apply to all times, past ones included.
// NOLINTBEGIN(modernize-avoid-c-arrays): literals in place, so that no pointer waits for relocation
struct NamedZone {
  char id[33];
  char standard[10];
  char daylight[10];
};
// NOLINTEND(modernize-avoid-c-arrays)

/// Sorted by id.
constexpr auto named_zones = std::to_array<NamedZone>({
#include "base/java_zones.inc"
});

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
  std::string standard;
  std::string daylight;
  std::optional<std::int64_t> offset;  ///< seconds east of UTC; nullopt: ask the C library
  const Inversion* inversion = nullptr;
  bool known = true;  ///< otherwise the names come from the C library
};

// --- finding the zone

std::string id_of_system() {
  std::array<char, 4096> target{};
  const auto size = readlink("/etc/localtime", target.data(), target.size());
  if (size > 0) {
    const std::string_view link(target.data(), static_cast<std::size_t>(size));
    constexpr std::string_view directory = "zoneinfo/";
    const auto at = link.find(directory);
    if (at != std::string_view::npos) return std::string(link.substr(at + directory.size()));
  }
  std::string id;
  std::ifstream("/etc/timezone") >> id;
  return id;
}

std::string custom_id(std::int64_t offset) {
  const auto minutes = std::abs(offset) / 60;
  return fmt::format("GMT{}{:02}:{:02}", offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

Zone fixed_zone(const std::string& name, std::int64_t offset) {
  return {.standard = name, .daylight = name, .offset = offset};
}

/// Whether `text` is 1 to `most` digits; appends them to `number`.
bool take_digits(std::string_view text, std::size_t most, std::int64_t& number) {
  if (text.empty() || text.size() > most) return false;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    number = number * 10 + (c - '0');
  }
  return true;
}

/// Java's custom ids "GMT+3", "GMT-3:30", "GMT+0330": + is east, the opposite of POSIX.
std::optional<Zone> custom_zone(std::string_view id) {
  if (id.size() < 5 || id.substr(0, 3) != "GMT" || (id[3] != '+' && id[3] != '-')) return {};
  const auto digits = id.substr(4);
  std::int64_t hours = 0;
  std::int64_t minutes = 0;
  if (const auto colon = digits.find(':'); colon != std::string_view::npos) {
    const auto last = digits.substr(colon + 1);
    if (!take_digits(digits.substr(0, colon), 2, hours)) return {};
    if (last.size() != 2 || !take_digits(last, 2, minutes)) return {};
  } else {
    if (!take_digits(digits, 4, hours)) return {};
    if (digits.size() > 2) {
      minutes = hours % 100;
      hours /= 100;
    }
  }
  if (hours > 23 || minutes > 59) return {};
  const bool west = id[3] == '-';
  const auto offset = (hours * 60 + minutes) * 60;
  return fixed_zone(fmt::format("GMT{}{:02}:{:02}", id[3], hours, minutes),
                    west ? -offset : offset);
}

/// Java's treatment of an unknown id such as "FOO3" or "CET-1CEST": standard time as the C library
/// understands the id, all year.
Zone zone_of_unknown_id() {
  const std::int64_t offset = -timezone;  // whole minutes, as in Java
  if (std::abs(offset) < 60 || std::abs(offset) >= 86400) return fixed_zone("GMT", 0);
  return fixed_zone(custom_id(offset), offset / 60 * 60);
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

  const auto* named = std::lower_bound(
      std::begin(named_zones), std::end(named_zones), id,
      [](const NamedZone& zone, std::string_view wanted) { return zone.id < wanted; });
  if (named != std::end(named_zones) && named->id == id) {
    Zone zone{.standard = named->standard, .daylight = named->daylight, .offset = {}};
    const auto* inversion = std::find_if(std::begin(inversions), std::end(inversions),
                                         [&](const Inversion& i) { return i.id == id; });
    if (inversion != std::end(inversions)) zone.inversion = inversion;
    return zone;
  }
  if (auto zone = custom_zone(id)) return *zone;
  if (is_set) return zone_of_unknown_id();
  return {.standard = {}, .daylight = {}, .offset = {}, .known = false};
}

// --- the calendar

struct Day {
  std::int64_t year = 1970;
  unsigned month = 1;
  unsigned day = 1;
};

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

constexpr std::int64_t first_gregorian_day = -141427;  // 15 October 1582

/// The date of a day counted from 1970-01-01, as Java has it: Julian before 15 October 1582, BCE
/// years before year 1. Computed with years that begin in March, so that a leap day comes last.
Day day_of(std::int64_t days) {
  constexpr std::int64_t to_march_of_year_0 = 719468;  // Gregorian
  std::int64_t year = 0;
  std::int64_t day_of_year = 0;
  if (days >= first_gregorian_day) {
    const std::int64_t shifted = days + to_march_of_year_0;  // positive: it is after 1582
    const std::int64_t era = shifted / 146097;
    const std::int64_t day_of_era = shifted % 146097;
    const std::int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    year = era * 400 + year_of_era;
  } else {
    const std::int64_t shifted = days + to_march_of_year_0 + 2;  // the Julian 0000-03-01
    const std::int64_t era = floor_div(shifted, 1461);
    const std::int64_t day_of_era = shifted - era * 1461;
    const std::int64_t year_of_era = std::min<std::int64_t>(day_of_era / 365, 3);
    day_of_year = day_of_era - 365 * year_of_era;
    year = era * 4 + year_of_era;
  }
  const auto month_from_march = static_cast<unsigned>((5 * day_of_year + 2) / 153);
  const auto day = static_cast<unsigned>(day_of_year) - (153 * month_from_march + 2) / 5 + 1;
  const unsigned month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
  if (month <= 2) ++year;
  return {year > 0 ? year : 1 - year, month, day};
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
  if (!zone.known) return written(seconds, local.tm_gmtoff, local.tm_zone);
  if (const auto* i = zone.inversion; i != nullptr && seconds >= i->begin && seconds < i->end) {
    daylight = !daylight;
  }
  return written(seconds, local.tm_gmtoff, daylight ? zone.daylight : zone.standard);
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
  struct Placed {
    std::size_t bucket;
    std::size_t own_bucket;
    std::string text;
  };
  std::vector<Placed> placed;
  placed.reserve(texts.size());
  for (auto& text : texts) {
    const auto hash = java_hash(text);
    const auto spread = hash ^ hash >> 16U;
    placed.push_back({spread & (buckets - 1), spread & (own_buckets - 1), std::move(text)});
  }
  std::ranges::stable_sort(
      placed, {}, [](const Placed& entry) { return std::pair(entry.bucket, entry.own_bucket); });
  std::ranges::transform(placed, texts.begin(),
                         [](Placed& entry) { return std::move(entry.text); });
}

}  // namespace zksh
