// Stat text: formats a znode's metadata as zkCli.sh does.
#pragma once

#include "client/client.h"

#include <cstdint>
#include <string>

namespace zksh {

/// Notes for some of the fields; empty: no note.
struct StatNotes {
  std::string ctime{};
  std::string mtime{};
  std::string ephemeral_owner{};
  std::string data_length{};
};

/// The eleven lines "cZxid = 0x2" to "numChildren = 0", each with its newline; a note follows its
/// field in parentheses. Dates are as Java prints them, in this process's time zone.
std::string stat_lines(const Stat& stat, const StatNotes& notes = {});

/// Notes for people: how long ago the times are at `now` (milliseconds since 1970), a long length
/// in KiB or MiB, and `owner`, a description of an ephemeral's session.
StatNotes human_notes(const Stat& stat, std::int64_t now, const std::string& owner);

/// "3 days ago", "1 minute ago", "just now", "in 2 hours": in the largest unit, rounded down.
std::string age_text(std::int64_t then, std::int64_t now);

}  // namespace zksh
