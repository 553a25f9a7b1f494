// Stat text: a znode's metadata as zkCli.sh prints it.
#pragma once

#include "client/client.h"

#include <cstdint>
#include <string>

namespace zksh {

/// What is said beside some of the fields; nothing is said where it is empty.
struct StatNotes {
  std::string ctime{};
  std::string mtime{};
  std::string ephemeral_owner{};
  std::string data_length{};
};

/// The eleven lines, "cZxid = 0x2" to "numChildren = 0", each with its newline; a note stands in
/// parentheses behind its field. Dates are Java's, in the zone of this process.
std::string stat_lines(const Stat& stat, const StatNotes& notes = {});

/// For people, at a time in milliseconds since 1970: ages of the times, the length in KiB or MiB
/// where it is that long, and `owner`, what is known of the session of an ephemeral.
StatNotes human_notes(const Stat& stat, std::int64_t now, const std::string& owner);

/// "3 days ago", "1 minute ago", "just now", "in 2 hours": the largest unit, rounded down.
std::string age_text(std::int64_t then, std::int64_t now);

}  // namespace zksh
