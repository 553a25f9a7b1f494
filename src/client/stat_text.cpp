// Stat text: formats a znode's metadata as zkCli.sh does.
#include "client/stat_text.h"

#include "base/java.h"
#include "base/number.h"

#include <fmt/core.h>

#include <array>

namespace zksh {
namespace {

std::string noted(const std::string& note) {
  return note.empty() ? "" : fmt::format(" ({})", note);
}

}  // namespace

std::string stat_lines(const Stat& stat, const StatNotes& notes) {
  return fmt::format(
      "cZxid = {}\n"
      "ctime = {}{}\n"
      "mZxid = {}\n"
      "mtime = {}{}\n"
      "pZxid = {}\n"
      "cversion = {}\n"
      "dataVersion = {}\n"
      "aclVersion = {}\n"
      "ephemeralOwner = {}{}\n"
      "dataLength = {}{}\n"
      "numChildren = {}\n",
      zxid_text(stat.czxid), java_date(stat.ctime), noted(notes.ctime), zxid_text(stat.mzxid),
      java_date(stat.mtime), noted(notes.mtime), zxid_text(stat.pzxid), stat.cversion, stat.version,
      stat.aversion, zxid_text(stat.ephemeral_owner), noted(notes.ephemeral_owner),
      stat.data_length, noted(notes.data_length), stat.num_children);
}

StatNotes human_notes(const Stat& stat, std::int64_t now, const std::string& owner) {
  constexpr std::int32_t kibi = 1024;
  return {.ctime = age_text(stat.ctime, now),
          .mtime = age_text(stat.mtime, now),
          .ephemeral_owner = stat.ephemeral_owner == 0 ? "not ephemeral" : owner,
          .data_length = stat.data_length < kibi ? "" : size_text(stat.data_length)};
}

std::string age_text(std::int64_t then, std::int64_t now) {
  struct Unit {
    std::int64_t milliseconds;
    const char* name;
  };
  constexpr std::array<Unit, 6> units{{{365LL * 86'400'000, "year"},
                                       {30LL * 86'400'000, "month"},
                                       {86'400'000, "day"},
                                       {3'600'000, "hour"},
                                       {60'000, "minute"},
                                       {1000, "second"}}};
  const bool past = then <= now;
  const auto age = past ? now - then : then - now;
  for (const auto& unit : units) {
    const auto count = age / unit.milliseconds;
    if (count == 0) continue;
    const auto text = fmt::format("{} {}{}", count, unit.name, count == 1 ? "" : "s");
    return past ? text + " ago" : "in " + text;
  }
  return "just now";
}

}  // namespace zksh
