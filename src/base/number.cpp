// Number: parses and formats numbers, sizes and ids, strictly.
#include "base/number.h"

#include "base/error.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

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
  return fmt::format(FMT_COMPILE("{} {}{}"), count, noun, count == 1 ? "" : "s");
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

std::optional<LeadingDecimal> leading_decimal(std::string_view text) {
  constexpr int largest = 400;  // exponents beyond this exceed the range of a double
  double number = 0;
  int exponent = 0;
  bool has_digit = false;
  bool has_point = false;
  const auto* at = text.begin();
  for (; at != text.end(); ++at) {
    if (*at == '.' && !has_point) {
      has_point = true;
      continue;
    }
    if (*at < '0' || *at > '9') break;
    has_digit = true;
    number = 10 * number + (*at - '0');
    if (has_point) --exponent;
  }
  if (!has_digit) return std::nullopt;
  if (at != text.end() && (*at == 'e' || *at == 'E')) {
    int given = 0;
    const auto [end, problem] = std::from_chars(at + 1, text.end(), given);
    if (problem == std::errc()) {
      exponent += std::clamp(given, -largest, largest);
      at = end;
    }
  }
  double power = 1;  // applied at once, so that a division rounds only once
  for (int i = 0; i < std::abs(exponent); ++i) power *= 10;
  return LeadingDecimal{.number = exponent < 0 ? number / power : number * power,
                        .rest = {at, text.end()}};
}

std::int64_t parse_size(std::string_view text, std::string_view what) {
  constexpr double most = 9e18;
  constexpr std::string_view letters = "kMGT";
  const auto size = leading_decimal(text);
  auto unit = size ? size->rest : "";
  double bytes = size ? size->number : -1;
  if (!unit.empty() && unit != "B") {
    const auto power = unit.front() == 'K' ? 0 : letters.find(unit.front());
    unit.remove_prefix(1);
    if (power == std::string_view::npos || !(unit.empty() || unit == "B" || unit == "iB"))
      bytes = -1;
    else
      bytes *= static_cast<double>(std::int64_t{1} << (10 * (power + 1)));
  }
  if (!(bytes >= 0 && bytes <= most))
    throw ValueError(fmt::format("{}: \"{}\" is not a size: a number of bytes, as 100, 10k or 1.5M",
                                 what, text));
  const auto whole = static_cast<std::int64_t>(bytes);
  return static_cast<double>(whole) < bytes ? whole + 1 : whole;
}

std::optional<std::int64_t> id_in(std::string_view digits) {
  const auto id = number_in<std::uint64_t>(digits, 16);
  return id ? std::optional(static_cast<std::int64_t>(*id)) : std::nullopt;
}

std::string zxid_text(std::int64_t zxid) {
  std::array<char, 18> text{'0', 'x'};
  constexpr int hexadecimal = 16;
  const auto end = std::to_chars(text.data() + 2, text.data() + text.size(),
                                 static_cast<std::uint64_t>(zxid), hexadecimal);
  return {text.data(), end.ptr};
}

std::string session_text(std::int64_t session) { return session == 0 ? "-" : zxid_text(session); }

}  // namespace zksh
