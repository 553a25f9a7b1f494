// Java hash: the order in which Java's hash tables give what zkCli.sh prints.
#include "base/java_hash.h"

#include "base/utf8.h"

#include <utility>

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

void sort_as_cloned_java_set(std::vector<std::string>& texts) {
  // HashMap.putVal: a table that has more entries than three quarters of its buckets is doubled.
  std::size_t own_buckets = 16;
  while (texts.size() > own_buckets / 4 * 3) own_buckets *= 2;
  // HashMap.putMapEntries: the clone has the least power of two that is not below size / 0.75 + 1.
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
