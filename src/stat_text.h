// Stat text: a znode's metadata as zkCli.sh prints it.
#pragma once

#include "client.h"

#include <string>

namespace zksh {

/// The eleven lines, "cZxid = 0x2" to "numChildren = 0", each with its newline. Dates are Java's,
/// in the zone of this process.
std::string stat_lines(const Stat& stat);

}  // namespace zksh
