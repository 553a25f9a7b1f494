// Java: dates and hash orders as zkCli's Java prints them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// Milliseconds since 1970 UTC as Java 17's Date.toString: "Fri Nov 20 11:41:43 UTC 2026". The zone
/// is that of $TZ, else of /etc/localtime, under the short name that Java gives it; it is found
/// once, at the first call. Any value is fine. May be called from any thread.
std::string java_date(std::int64_t milliseconds);

/// The same, but the zone is found anew: for tests, which change $TZ. Not while other threads run.
std::string java_date_after_zone_change(std::int64_t milliseconds);

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
