// Stat text: a znode's metadata as zkCli.sh prints it.
#include "stat_text.h"

#include "java_date.h"

#include <fmt/core.h>

namespace zksh {
namespace {

// As Java's Long.toHexString: negative values appear as their two's complement.
std::string hexadecimal(std::int64_t value) {
  return fmt::format("0x{:x}", static_cast<std::uint64_t>(value));
}

}  // namespace

std::string stat_lines(const Stat& stat) {
  return fmt::format(
      "cZxid = {}\n"
      "ctime = {}\n"
      "mZxid = {}\n"
      "mtime = {}\n"
      "pZxid = {}\n"
      "cversion = {}\n"
      "dataVersion = {}\n"
      "aclVersion = {}\n"
      "ephemeralOwner = {}\n"
      "dataLength = {}\n"
      "numChildren = {}\n",
      hexadecimal(stat.czxid), java_date(stat.ctime), hexadecimal(stat.mzxid),
      java_date(stat.mtime), hexadecimal(stat.pzxid), stat.cversion, stat.version, stat.aversion,
      hexadecimal(stat.ephemeral_owner), stat.data_length, stat.num_children);
}

}  // namespace zksh
