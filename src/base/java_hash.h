// Java hash: the order in which Java's hash tables give what zkCli.sh prints.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// String.hashCode of a UTF-8 text; every byte that is not valid counts as U+FFFD.
std::uint32_t java_hash(std::string_view text);

/// The place of a hash in a ConcurrentHashMap or HashMap of so many entries that began with the
/// usual room for them.
std::size_t java_bucket(std::uint32_t hash, std::size_t entries);

/// Puts entries that are in the order of their insertion into the order in which such a map is
/// walked (but for entries of one bucket in a map that has grown, whose order Java may turn round).
template <class T, class Hash>
void sort_as_java_map(std::vector<T>& entries, Hash hash) {
  std::ranges::stable_sort(
      entries, {}, [&](const T& entry) { return java_bucket(hash(entry), entries.size()); });
}

/// Puts texts that are in the order of their insertion into the order in which Java walks the clone
/// of a HashSet of them, from which nothing was removed.
void sort_as_cloned_java_set(std::vector<std::string>& texts);

}  // namespace zksh
