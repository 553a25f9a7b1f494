// Java hash: the order in which Java's hash tables give what zkCli.sh prints.
#include "java_hash.h"

#include "utf8.h"

namespace zksh {

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

}  // namespace zksh
