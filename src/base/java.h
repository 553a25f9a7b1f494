// Java: dates and hash orders as the Java of zkCli.sh prints them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zksh {

/// Formats milliseconds since 1970 UTC as Java 17's Date.toString: "Fri Nov 20 11:41:43 UTC 2026".
/// The zone is that of $TZ, or else of /etc/localtime, under Java's short name for it; it is looked
/// up once, at the first call. Any value is accepted. May be called from any thread.
std::string java_date(std::int64_t milliseconds);

/// The same, but looks the zone up again: for tests that change $TZ. Not thread-safe.
std::string java_date_after_zone_change(std::int64_t milliseconds);

/// Parses Java's properties format (java.util.Properties.load): `key=value`, `key: value` or `key
/// value`, # and ! comments, \ at the end of a line to continue it, and the escapes \t \n \r \f and
/// \u with four hexadecimal digits. In the order of the text, in which a key may come again.
std::vector<std::pair<std::string, std::string>> java_properties(std::string_view text);

/// Java's String.hashCode of a UTF-8 text; each invalid byte counts as U+FFFD.
std::uint32_t java_hash(std::string_view text);

/// The bucket of a hash in a HashMap or ConcurrentHashMap that has `entries` entries and was
/// created with the default capacity.
std::size_t java_bucket(std::uint32_t hash, std::size_t entries);

/// Sorts entries, given in order of insertion, as iteration over such a map orders them. Not exact
/// for entries in one bucket of a map that has grown, where Java may reverse their order.
template <class T, class Hash>
void sort_as_java_map(std::vector<T>& entries, Hash hash) {
  std::ranges::stable_sort(
      entries, {}, [&](const T& entry) { return java_bucket(hash(entry), entries.size()); });
}

/// Sorts texts, given in order of insertion, as iteration over the clone of a HashSet orders them.
/// Nothing may have been removed from the set.
void sort_as_cloned_java_set(std::vector<std::string>& texts);

}  // namespace zksh
