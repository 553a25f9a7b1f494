// Number: parses and formats numbers, sizes and ids, strictly.
#include "base/number.h"

#include "base/error.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <system_error>

namespace zksh {

bool is_number(std::string_view word) {
  if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

bool begins_as_number(std::string_view word) {
  if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
  return !word.empty() && word.front() >= '0' && word.front() <= '9';
}

std::int64_t parse_number(std::string_view word, std::string_view what, std::int64_t min,
                          std::int64_t max) {
  if (!is_number(word))
    throw UsageError(fmt::format("{}: \"{}\" is not a whole number", what, word));
  const auto number = java_number_in<std::int64_t>(word);
  if (!number || *number < min || *number > max)
    throw UsageError(fmt::format("{}: {} is out of range, {} to {}", what, word, min, max));
  return *number;
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string counted_were(std::size_t count, std::string_view noun) {
  return counted(count, noun) + (count == 1 ? " was" : " were");
}

std::string size_text(std::int64_t bytes) {
  constexpr double kibi = 1024;
  const auto size = static_cast<double>(bytes);
  if (size < kibi) return fmt::format("{} B", bytes);
  if (size < kibi * kibi) return fmt::format("{:.1f} KiB", size / kibi);
  if (size < kibi * kibi * kibi) return fmt::format("{:.1f} MiB", size / kibi / kibi);
  return fmt::format("{:.1f} GiB", size / kibi / kibi / kibi);
}

std::int64_t parse_size(std::string_view text, std::string_view what) {
  constexpr double most = 9e18;
  double number = 0;
  const auto [end, problem] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  auto unit = text.substr(static_cast<std::size_t>(end - text.data()));
  double factor = 1;
  constexpr std::string_view letters = "kMGT";
  constexpr double kibi = 1024;
  if (!unit.empty() && unit != "B") {
    const auto power = unit.front() == 'K' ? 0 : letters.find(unit.front());
    unit.remove_prefix(1);
    if (power == std::string_view::npos || !(unit.empty() || unit == "B" || unit == "iB"))
      number = -1;
    else
      factor = std::pow(kibi, static_cast<double>(power + 1));
  }
  if (problem != std::errc() || !(number >= 0) || number * factor > most)
    throw ValueError(fmt::format("{}: \"{}\" is not a size: a number of bytes, as 100, 10k or 1.5M",
                                 what, text));
  return static_cast<std::int64_t>(std::ceil(number * factor));
}

std::string zxid_text(std::int64_t zxid) {
  return fmt::format("0x{:x}", static_cast<std::uint64_t>(zxid));
}

std::string session_text(std::int64_t session) { return session == 0 ? "-" : zxid_text(session); }

}  // namespace zksh
