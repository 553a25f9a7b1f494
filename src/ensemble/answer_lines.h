// Answer lines: what the readers of servers' answers to four-letter words share.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace zksh {

/// Calls `use` for each line of a text, without its newline.
template <class Use>
void for_each_line(std::string_view text, Use&& use) {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    use(line);
  }
}

/// The session's id "0x100…" at the beginning of a text; nothing when there is none.
inline std::optional<std::int64_t> session_at(std::string_view text) {
  constexpr int hexadecimal = 16;
  if (!text.starts_with("0x")) return std::nullopt;
  std::uint64_t id = 0;
  const auto parsed = std::from_chars(text.data() + 2, text.data() + text.size(), id, hexadecimal);
  if (parsed.ec != std::errc()) return std::nullopt;
  return static_cast<std::int64_t>(id);
}

}  // namespace zksh
