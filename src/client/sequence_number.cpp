// Sequence numbers: what servers append to the names of sequential nodes.
#include "client/sequence_number.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace zksh {

std::int64_t sequence_counter(const Stat& parent) {
  const auto twice =
      static_cast<std::uint32_t>(parent.cversion) + static_cast<std::uint32_t>(parent.num_children);
  return twice / 2;
}

std::optional<std::int32_t> sequence_number(std::string_view name) {
  constexpr std::size_t digits = 10;
  if (name.size() < digits) return std::nullopt;
  const auto text = name.substr(name.size() - digits);
  if (!std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
  std::int32_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc()) return std::nullopt;
  return number;
}

}  // namespace zksh
