// Number: numbers, sizes and ids, read strictly and shown.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace zksh {

/// The number that a text is, as a whole: digits, after a minus sign where the type has one.
/// Nothing for any other text, and for a number that the type cannot hold.
template <class Number>
std::optional<Number> number_in(std::string_view text, int base = 10) {
  Number number = 0;
  const auto* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number, base);
  if (problem != std::errc() || stop != end) return std::nullopt;
  return number;
}
/// As number_in; a plus sign may stand before the digits too, as for Java's Long.parseLong.
template <class Number>
std::optional<Number> java_number_in(std::string_view text, int base = 10) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return number_in<Number>(text, base);
}

/// Whether a word is a decimal number with an optional sign, of any size.
bool is_number(std::string_view word);
/// Whether a word begins as a number does: with a digit, behind a sign or not.
bool begins_as_number(std::string_view word);

/// A decimal number of the given range, else UsageError naming `what` and the word.
std::int64_t parse_number(std::string_view word, std::string_view what, std::int64_t min,
                          std::int64_t max);

/// "34 B", "1.2 KiB", "5.0 MiB".
std::string size_text(std::int64_t bytes);
/// "100", "10k", "1.5M", "2G" and "10KiB": bytes, in units of 1024. Throws ValueError naming
/// `what`.
std::int64_t parse_size(std::string_view text, std::string_view what);

/// "0x1f"; of a negative value its two's complement, as Java's Long.toHexString.
std::string zxid_text(std::int64_t zxid);
/// As servers write it: "0x100000abc"; "-" for none.
std::string session_text(std::int64_t session);

}  // namespace zksh
